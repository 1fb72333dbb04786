//! Two texts, line by line: what was expected and what came.

/// Shows the difference of two texts: `-` expected, `+` got, a few equal lines around.
pub fn diff(expected: &str, got: &str) -> String {
    let old: Vec<&str> = expected.lines().collect();
    let new: Vec<&str> = got.lines().collect();
    // Lengths of the longest common subsequences of the rests.
    let mut common = vec![vec![0_usize; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i][j] = if old[i] == new[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let mut lines: Vec<(char, &str)> = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push((' ', old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || (i < old.len() && common[i + 1][j] >= common[i][j + 1]) {
            lines.push(('-', old[i]));
            i += 1;
        } else {
            lines.push(('+', new[j]));
            j += 1;
        }
    }
    with_context(&lines)
}

/// Leaves out equal lines that are far from any difference.
fn with_context(lines: &[(char, &str)]) -> String {
    const CONTEXT: usize = 3;
    let near = |at: usize| {
        let from = at.saturating_sub(CONTEXT);
        let to = (at + CONTEXT + 1).min(lines.len());
        lines[from..to].iter().any(|(mark, _)| *mark != ' ')
    };
    let mut text = String::new();
    let mut left_out = false;
    for (at, (mark, line)) in lines.iter().enumerate() {
        if near(at) {
            text.push_str(&format!("  {mark} {line}\n"));
            left_out = false;
        } else if !left_out {
            text.push_str("    …\n");
            left_out = true;
        }
    }
    text
}
