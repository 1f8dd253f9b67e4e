//! Matches the joints of two models by name.

/// The index in `ours` for each of `theirs`: the same name, else the same except for case, punctuation and a prefix
/// that names a rig or exporter ("mixamorig:LeftArm", "Armature|left_arm"). A joint of `ours` matches at most one of
/// `theirs`.
pub fn match_names(theirs: &[String], ours: &[String]) -> Vec<Option<u16>> {
    let mut found: Vec<Option<u16>> = vec![None; theirs.len()];
    let mut taken = vec![false; ours.len()];
    let exact = |name: &str| name.to_owned();
    for simple in [exact as fn(&str) -> String, plain] {
        let keys: Vec<String> = ours.iter().map(|n| simple(n)).collect();
        for (name, slot) in theirs.iter().zip(&mut found) {
            if slot.is_some() {
                continue;
            }
            let key = simple(name);
            let same = |&i: &usize| !taken[i] && !key.is_empty() && keys[i] == key;
            if let Some(i) = (0..ours.len()).find(same) {
                taken[i] = true;
                *slot = Some(i as u16);
            }
        }
    }
    found
}

/// Lower case, without what comes before a colon or bar, letters and digits only.
fn plain(name: &str) -> String {
    let last = name.rsplit([':', '|']).next().unwrap_or(name);
    let letters = last.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_signs_and_case_do_not_matter_but_the_same_name_comes_first() {
        let names = |list: &[&str]| list.iter().map(|&n| n.to_owned()).collect::<Vec<_>>();
        let theirs = names(&["mixamorig:LeftArm", "head", "Tail", "left_arm"]);
        let ours = names(&["Head", "left_arm", "LeftArm", "spine"]);
        assert_eq!(
            match_names(&theirs, &ours),
            [Some(2), Some(0), None, Some(1)]
        );
    }
}
