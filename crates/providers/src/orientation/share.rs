//! Dividing room among parts: each has a share, and what one does not need goes to the others.

/// A part of an answer, as pieces that are given in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Portion {
    /// How much of the room it has, beside the others.
    pub weight: usize,
    /// What each piece takes.
    pub pieces: Vec<usize>,
}

/// Returns how many pieces of each part fit, the first ones of each.
///
/// All of them together never take more than `room`.
pub fn share(room: usize, parts: &[Portion]) -> Vec<usize> {
    let allowed = allowances(room, parts);
    let mut left = room;
    let mut kept: Vec<usize> = parts
        .iter()
        .zip(allowed)
        .map(|(part, allowed)| {
            let mut used = 0;
            let fits = |cost: &&usize| {
                used += **cost;
                used <= allowed
            };
            let count = part.pieces.iter().take_while(fits).count();
            left -= part.pieces[..count].iter().sum::<usize>();
            count
        })
        .collect();
    // What the cuts at pieces have left goes round, a piece at a time.
    loop {
        let mut gave = false;
        for (part, kept) in parts.iter().zip(&mut kept) {
            if let Some(cost) = part.pieces.get(*kept).filter(|cost| **cost <= left) {
                left -= cost;
                *kept += 1;
                gave = true;
            }
        }
        if !gave {
            return kept;
        }
    }
}

/// Returns what each part may take: all that it needs, or its share of what those leave that need less.
fn allowances(room: usize, parts: &[Portion]) -> Vec<usize> {
    let needs: Vec<usize> = parts.iter().map(|part| part.pieces.iter().sum()).collect();
    let mut allowed: Vec<Option<usize>> = vec![None; parts.len()];
    loop {
        let open = || allowed.iter().enumerate().filter(|(_, it)| it.is_none()).map(|(at, _)| at);
        let weights: usize = open().map(|at| parts[at].weight).sum();
        let left = room - allowed.iter().flatten().sum::<usize>();
        let of = |at: usize| (left * parts[at].weight).checked_div(weights).unwrap_or(0);
        let content: Vec<usize> = open().filter(|at| needs[*at] <= of(*at)).collect();
        if content.is_empty() {
            return (0..parts.len()).map(|at| allowed[at].unwrap_or_else(|| of(at))).collect();
        }
        for at in content {
            allowed[at] = Some(needs[at]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn part(weight: usize, pieces: &[usize]) -> Portion {
        Portion { weight, pieces: pieces.to_vec() }
    }

    #[test]
    fn what_one_part_does_not_need_goes_to_the_others() {
        assert_eq!(share(100, &[part(1, &[10]), part(1, &[30; 5])]), [1, 3]);
        assert_eq!(share(100, &[part(1, &[10; 9]), part(1, &[10; 9])]), [5, 5]);
        assert_eq!(share(100, &[part(3, &[10; 9]), part(1, &[10; 9])]), [8, 2]);
        assert_eq!(share(1_000, &[part(1, &[10; 9]), part(1, &[])]), [9, 0]);
    }

    #[test]
    fn a_large_piece_does_not_keep_its_room_from_others() {
        assert_eq!(share(100, &[part(1, &[90, 1]), part(1, &[10; 20])]), [0, 10]);
    }

    proptest! {
        #[test]
        fn the_parts_never_take_more_than_the_room(
            room in 0_usize..2_000,
            parts in proptest::collection::vec((1_usize..20, proptest::collection::vec(0_usize..300, 0..30)), 0..8),
        ) {
            let parts: Vec<Portion> = parts.iter().map(|(weight, pieces)| part(*weight, pieces)).collect();
            let kept = share(room, &parts);
            let taken: usize = parts.iter().zip(&kept).map(|(part, kept)| part.pieces[..*kept].iter().sum::<usize>()).sum();
            prop_assert!(taken <= room);
            // Nothing is left out that would have fitted.
            for (part, kept) in parts.iter().zip(&kept) {
                prop_assert!(part.pieces.get(*kept).is_none_or(|cost| *cost > room - taken));
            }
        }
    }
}
