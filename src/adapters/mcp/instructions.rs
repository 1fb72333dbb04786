//! The instructions that a client shows its model; the first 512 characters carry the meaning.

use crate::scope_setup::offer::Offer;

/// How many scope ids are named.
const MAX_SCOPES: usize = 12;

/// Returns how to start, and in which scopes.
pub(super) fn instructions(offer: &Offer) -> String {
    let scopes = match offer.scopes.as_slice() {
        [] => "No scope is open to you yet: the user opens one with `bailiwick setup FOLDER`.".to_owned(),
        [only] => format!("Your scope is `{only}`; you may leave it out."),
        several => {
            let shown = several.iter().take(MAX_SCOPES).map(|id| format!("`{id}`")).collect::<Vec<_>>();
            let more = if several.len() > MAX_SCOPES { " and more" } else { "" };
            format!("Your scopes are {}{more}; name one in every call.", shown.join(", "))
        }
    };
    let change = if offer.effects {
        "; and to computer_operation to change: file.patch {edits: [{old, new, path}]}, file.write {content}, command.run {command}"
    } else {
        ""
    };
    let new = if offer.overview { " Begin with code.context in a project that is new to you." } else { "" };
    format!(
        "Works on the user's computer, inside the scopes that they opened. {scopes} Paths are relative to its folder. \
         Send {{op, target, input, options}} to computer_query to look: file.read with target, \
         file.read_many {{paths}}, file.search {{query}}, file.list{change}. \
         Save calls: `then` holds the calls that follow, such as a test after a patch. \
         get_computer_info with include [\"operations\"] lists all you can do, family (\"file\") more.{new} \
         A refusal says what would work; options.detail \"full\" gives all there is to say of an answer."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_512_characters_name_the_scopes_and_the_tools() {
        let scopes = (0..100).map(|n| format!("scope-{n}")).collect();
        for offer in [Offer::default(), Offer { scopes, ..Offer::default() }] {
            let text = instructions(&offer);
            let head: String = text.chars().take(512).collect();
            assert!(head.contains("computer_query"), "{head}");
            assert!(text.chars().count() < 1_000);
        }
        let one = Offer { scopes: vec!["app".into()], ..Offer::default() };
        assert!(instructions(&one).chars().take(512).collect::<String>().contains("computer_query"));
    }
}
