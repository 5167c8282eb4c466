//! The known name a misspelt one was probably meant to be.

/// Longest name that is compared with others; the cost grows with the square.
const LONGEST: usize = 200;
/// Most single changes that still leave a name near to another.
const FARTHEST: usize = 3;
/// Most names of about the right length that are compared.
const MOST: usize = 2_000;

/// The candidate nearest to `name`, if one is near enough to be worth suggesting.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST {
        return None;
    }
    let (lower, length) = (name.to_lowercase(), name.chars().count());
    candidates
        .into_iter()
        .filter(|c| c.len() <= LONGEST && c.chars().count().abs_diff(length) <= FARTHEST)
        .take(MOST)
        .map(|c| (strsim::damerau_levenshtein(&lower, &c.to_lowercase()), c))
        .filter(|&(distance, c)| distance <= ((c.chars().count().max(length) + 1) / 3).min(FARTHEST))
        // Equal distances: the first in alphabetical order, so that the answer does not depend on hashing.
        .min()
        .map(|(_, c)| c)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn suggests_near_names_only() {
        let keys = ["loads", "stores", "fields", "domain"];
        assert_eq!(nearest("load", keys), Some("loads"));
        assert_eq!(nearest("feilds", keys), Some("fields"));
        assert_eq!(nearest("Domain", keys), Some("domain"));
        assert_eq!(nearest("bananas", keys), None);
        assert_eq!(nearest("q", ["x", "y"]), None, "any letter would do");
        assert_eq!(nearest("Y", ["x", "y"]), Some("y"));
    }

    #[test]
    fn a_long_name_costs_little() {
        let long = "a".repeat(100_000);
        assert_eq!(nearest(&long, ["loads"]), None);
        assert_eq!(nearest(&long, [long.as_str()]), None);
    }
}
