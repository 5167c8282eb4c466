//! The known name a misspelt one was probably meant to be.

/// The candidate nearest to `name`, if one is near enough to be worth suggesting.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_lowercase();
    candidates
        .into_iter()
        .map(|c| (strsim::damerau_levenshtein(&lower, &c.to_lowercase()), c))
        .filter(|&(distance, c)| distance <= (c.chars().count().max(name.chars().count()) + 1).min(9) / 3)
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
    }
}
