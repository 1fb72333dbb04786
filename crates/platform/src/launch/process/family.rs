//! Which processes belong to a job, where no namespace and no subreaper tells it.
//!
//! A process whose parent has ended is a child of the system's first process from then on. It is known all the same
//! by what it cannot or hardly ever does get rid of: its session, the number that its parent had (macOS), and a mark
//! in its environment. Only that is missed which left its session, threw its environment away, and whose parent
//! had ended before anybody looked.

use std::collections::{HashMap, HashSet};

/// A process, as the system's table shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) session: i32,
    /// When it was started, in a unit of the system's own. With the number it names one process.
    pub(super) started: u64,
    /// Its own number and that of the process that forked it, which are never used again, where there are such.
    pub(super) birth: Option<(u64, u64)>,
}

/// The processes of one job, as far as they were ever seen.
#[derive(Debug)]
pub(super) struct Family {
    /// The process that starts them; none where it is gone.
    top: Option<i32>,
    /// The session that they were forked in, which is not theirs.
    outer: i32,
    /// Nothing that was started before is theirs.
    since: u64,
    known: HashMap<i32, u64>,
    sessions: HashSet<i32>,
    births: HashSet<u64>,
}

impl Family {
    /// Begins with a process that starts others, and its session.
    pub(super) fn new(top: Option<i32>, outer: i32, since: u64) -> Self {
        let (known, sessions, births) = (HashMap::new(), HashSet::new(), HashSet::new());
        Self { top, outer, since, known, sessions, births }
    }

    /// Finds those of the family in a table of all that run. `is_marked` is asked only about others.
    pub(super) fn find(&mut self, table: &[Row], is_marked: impl Fn(Row) -> bool) -> Vec<Row> {
        let candidates: Vec<Row> = table
            .iter()
            .filter(|row| row.pid > 1 && Some(row.pid) != self.top && row.started >= self.since)
            .copied()
            .collect();
        // A number that somebody else has by now names no session of the family any more.
        self.sessions.retain(|session| {
            let leader = table.iter().find(|row| row.pid == *session);
            leader.is_none_or(|leader| self.known.get(session) == Some(&leader.started))
        });
        let mut members: HashMap<i32, Row> = HashMap::new();
        self.extend(&candidates, &mut members);
        let marked: Vec<Row> = candidates
            .iter()
            .filter(|row| !members.contains_key(&row.pid) && is_marked(**row))
            .copied()
            .collect();
        if !marked.is_empty() {
            for row in marked {
                self.admit(row, &mut members);
            }
            self.extend(&candidates, &mut members);
        }
        members.into_values().collect()
    }

    /// Adds what belongs to those that are there, until nothing does any more.
    fn extend(&mut self, candidates: &[Row], members: &mut HashMap<i32, Row>) {
        loop {
            let before = members.len();
            for row in candidates {
                if !members.contains_key(&row.pid) && self.is_own(*row, members) {
                    self.admit(*row, members);
                }
            }
            if members.len() == before {
                return;
            }
        }
    }

    fn is_own(&self, row: Row, members: &HashMap<i32, Row>) -> bool {
        self.known.get(&row.pid) == Some(&row.started)
            || Some(row.parent) == self.top
            || members.contains_key(&row.parent)
            || self.sessions.contains(&row.session)
            || row.birth.is_some_and(|(_, parent)| self.births.contains(&parent))
    }

    fn admit(&mut self, row: Row, members: &mut HashMap<i32, Row>) {
        self.known.insert(row.pid, row.started);
        self.births.extend(row.birth.map(|(own, _)| own));
        if row.session > 1 && row.session != self.outer {
            self.sessions.insert(row.session);
        }
        members.insert(row.pid, row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOP: i32 = 100;
    const OUTER: i32 = 50;

    fn row(pid: i32, parent: i32, session: i32) -> Row {
        Row { pid, parent, session, started: 1000 + u64::from(pid.cast_unsigned()), birth: None }
    }

    fn found(family: &mut Family, table: &[Row]) -> Vec<i32> {
        let mut pids: Vec<i32> = family.find(table, |_| false).iter().map(|row| row.pid).collect();
        pids.sort_unstable();
        pids
    }

    #[test]
    fn what_is_below_the_top_is_found_and_the_top_and_others_are_not() {
        let table = [
            row(TOP, 1, OUTER),
            row(101, TOP, 101),
            row(102, 101, 101),
            row(103, 102, 103),
            row(60, 50, OUTER),
            row(200, 1, 200),
        ];
        assert_eq!(found(&mut Family::new(Some(TOP), OUTER, 0), &table), [101, 102, 103]);
    }

    #[test]
    fn an_orphan_is_found_by_its_session_as_long_as_that_is_the_familys() {
        let mut family = Family::new(Some(TOP), OUTER, 0);
        assert_eq!(found(&mut family, &[row(101, TOP, 101)]), [101]);
        // Its leader and the one that forked it are gone.
        assert_eq!(found(&mut family, &[row(105, 1, 101)]), [105]);
        let stranger = Row { started: 9999, ..row(101, 1, 101) };
        let child_of_stranger = row(106, 101, 101);
        assert_eq!(found(&mut family, &[stranger, child_of_stranger]), [0_i32; 0]);
    }

    #[test]
    fn an_orphan_that_left_its_session_is_found_by_who_forked_it() {
        let mut family = Family::new(Some(TOP), OUTER, 0);
        let parent = Row { birth: Some((7, 6)), ..row(101, TOP, 101) };
        assert_eq!(found(&mut family, &[parent]), [101]);
        let orphan = Row { birth: Some((9, 7)), ..row(107, 1, 107) };
        let below = Row { birth: Some((10, 9)), ..row(108, 1, 108) };
        assert_eq!(found(&mut family, &[orphan]), [107]);
        assert_eq!(found(&mut family, &[below]), [108]);
        assert_eq!(found(&mut family, &[Row { birth: Some((12, 11)), ..row(109, 1, 109) }]), [0_i32; 0]);
    }

    #[test]
    fn what_carries_the_mark_is_found_with_what_belongs_to_it() {
        let mut family = Family::new(Some(TOP), OUTER, 0);
        let table = [row(101, 1, 101), row(102, 101, 101), row(103, 1, 101), row(104, 1, 104)];
        let mut marked: Vec<i32> =
            family.find(&table, |row| row.pid == 101).iter().map(|row| row.pid).collect();
        marked.sort_unstable();
        assert_eq!(marked, [101, 102, 103]);
    }

    #[test]
    fn what_was_there_before_the_job_is_never_its_own() {
        let mut family = Family::new(Some(TOP), OUTER, 2000);
        let early = Row { started: 1999, ..row(101, TOP, 101) };
        let late = Row { started: 2000, ..row(102, TOP, 102) };
        assert_eq!(found(&mut family, &[early, late]), [102]);
        assert!(family.find(&[early], |_| true).is_empty());
    }

    #[test]
    fn another_process_with_a_known_number_is_not_taken_for_it() {
        let mut family = Family::new(Some(TOP), OUTER, 0);
        assert_eq!(found(&mut family, &[row(101, TOP, OUTER)]), [101]);
        assert_eq!(found(&mut family, &[Row { started: 5000, ..row(101, 1, 101) }]), [0_i32; 0]);
    }
}
