//! The graph of imports between the source files.
//!
//! A node is a file. An edge leads from a file to the file that *defines* what it names: re-exports are followed. A
//! folder's `mod.rs` is its face: it declares, re-exports and may define what the files below it share, so an import
//! from the face of one's own folder is no edge. Unit tests and comments are left out; method calls cannot be seen,
//! since no path names them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The files of `src` and what each imports.
pub(crate) struct ImportGraph {
    /// Paths below `src`, by file.
    pub names: Vec<String>,
    /// By file: the files it imports from.
    pub imports: Vec<BTreeSet<usize>>,
}

/// One source file as a module.
struct Module {
    /// `["bake", "solve"]`; empty for `lib.rs`.
    path: Vec<String>,
    is_folder: bool,
    tokens: Vec<String>,
    uses: Vec<Use>,
    /// Which tokens belong to `use` declarations.
    in_use: Vec<bool>,
}

/// One leaf of a `use` declaration: `use a::b as c` binds `c` to `[a, b]`.
struct Use {
    path: Vec<String>,
    /// `*` for a glob.
    name: String,
    is_public: bool,
}

impl ImportGraph {
    /// The graph of these files, given as paths below `src` and their texts.
    pub(crate) fn new(files: &[(PathBuf, String)]) -> Self {
        let modules: Vec<Module> = files
            .iter()
            .map(|(path, text)| Module::new(path, text))
            .collect();
        let by_path: BTreeMap<Vec<String>, usize> = modules
            .iter()
            .enumerate()
            .map(|(i, m)| (m.path.clone(), i))
            .collect();
        let resolver = Resolver {
            modules: &modules,
            by_path: &by_path,
        };
        let is_own_face = |i: usize, j: usize| {
            modules[j].is_folder && modules[i].path.starts_with(&modules[j].path)
        };
        Self {
            names: files
                .iter()
                .map(|(path, _)| path.display().to_string())
                .collect(),
            imports: (0..modules.len())
                .map(|i| {
                    let found = resolver.imports(i).into_iter();
                    found.filter(|&j| !is_own_face(i, j)).collect()
                })
                .collect(),
        }
    }

    /// The sets of files in which every file reaches every other one: the strongly connected components of more than one
    /// file.
    pub(crate) fn circles(&self) -> Vec<BTreeSet<usize>> {
        let reached: Vec<BTreeSet<usize>> =
            (0..self.names.len()).map(|i| self.reached(i)).collect();
        let mut circles: BTreeSet<BTreeSet<usize>> = BTreeSet::new();
        for (i, from) in reached.iter().enumerate() {
            let circle: BTreeSet<usize> = from
                .iter()
                .copied()
                .filter(|&j| reached[j].contains(&i))
                .collect();
            if circle.len() > 1 {
                circles.insert(circle);
            }
        }
        circles.into_iter().collect()
    }

    fn reached(&self, from: usize) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut open = vec![from];
        while let Some(i) = open.pop() {
            for &j in &self.imports[i] {
                if reached.insert(j) {
                    open.push(j);
                }
            }
        }
        reached
    }

    /// The imports within a circle, one a line.
    pub(crate) fn describe(&self, circle: &BTreeSet<usize>) -> String {
        let lines = circle.iter().map(|&i| {
            let inside: Vec<&str> = self.imports[i]
                .intersection(circle)
                .map(|&j| self.names[j].as_str())
                .collect();
            format!("  {} -> {}", self.names[i], inside.join(", "))
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

impl Module {
    fn new(path: &Path, text: &str) -> Self {
        let mut names: Vec<String> = path
            .with_extension("")
            .iter()
            .map(|part| part.to_str().unwrap().to_owned())
            .collect();
        let last = names.last().unwrap().as_str();
        let is_folder = ["mod", "lib", "main"].contains(&last);
        if last == "mod" || last == "lib" {
            names.pop();
        }
        let tokens = tokens(text).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
        let (uses, in_use) = uses(&tokens);
        Self {
            path: names,
            is_folder,
            tokens,
            uses,
            in_use,
        }
    }

    /// Whether an item of this name is defined in the file itself.
    fn defines(&self, name: &str) -> bool {
        const KINDS: [&str; 9] = [
            "fn",
            "struct",
            "enum",
            "trait",
            "type",
            "const",
            "static",
            "union",
            "macro_rules",
        ];
        self.tokens.windows(3).any(|three| {
            KINDS.contains(&three[0].as_str())
                && (three[1] == name || three[1] == "!" && three[2] == name)
        })
    }
}

struct Resolver<'a> {
    modules: &'a [Module],
    by_path: &'a BTreeMap<Vec<String>, usize>,
}

impl Resolver<'_> {
    /// The files that file `i` imports from.
    fn imports(&self, i: usize) -> BTreeSet<usize> {
        let module = &self.modules[i];
        let mut found = BTreeSet::new();
        let mut named: BTreeSet<&str> = BTreeSet::new();
        for (at, token) in module.tokens.iter().enumerate() {
            let starts = at == 0 || !["::", "."].contains(&module.tokens[at - 1].as_str());
            if module.in_use[at] || !starts || !is_name(token) {
                continue;
            }
            named.insert(token);
            let mut path = vec![token.clone()];
            let mut next = at + 1;
            while module.tokens.get(next).is_some_and(|t| t == "::")
                && module.tokens.get(next + 1).is_some_and(|t| is_name(t))
            {
                path.push(module.tokens[next + 1].clone());
                next += 2;
            }
            if path.len() > 1 {
                found.extend(self.target(i, &self.full_path(module, path)));
            }
        }
        for used in &module.uses {
            let path = self.full_path(module, used.path.clone());
            // A folder's face passes on what lies below it; that is no import unless the face uses it itself.
            let is_face = module.is_folder && used.is_public && path.starts_with(&module.path);
            if !is_face || named.contains(used.name.as_str()) {
                found.extend(self.target(i, &path));
            }
        }
        found.remove(&i);
        found
    }

    /// A path from the crate's root; names that a `use` of the module binds are replaced by what they stand for. A path
    /// that begins outside of the crate gets a first name that no module has.
    fn full_path(&self, module: &Module, mut path: Vec<String>) -> Vec<String> {
        let first = path[0].as_str();
        if let Some(used) = module.uses.iter().find(|u| u.name == first)
            && used.path[0] != first
        {
            path.splice(0..1, used.path.iter().cloned());
        }
        let mut full = module.path.clone();
        match path[0].as_str() {
            "crate" => full.clear(),
            "self" => {}
            "super" => {
                full.pop();
            }
            name => {
                full.push(name.to_owned());
                if !self.by_path.contains_key(&full) {
                    full.clear();
                    full.push("(outside)".to_owned());
                }
            }
        }
        for name in path.drain(1..) {
            if name == "super" {
                full.pop();
            } else {
                full.push(name);
            }
        }
        full
    }

    /// The file that defines what a full path names.
    fn target(&self, from: usize, path: &[String]) -> Option<usize> {
        let depth = (1..=path.len())
            .rev()
            .find(|&n| self.by_path.contains_key(&path[..n]))?;
        let module = self.by_path[&path[..depth]];
        match path.get(depth) {
            Some(item) => Some(self.definition(module, item, 0).unwrap_or(module)),
            // A folder's name alone says nothing yet: what is taken from it is resolved where it is named.
            None => (module != from && !self.modules[module].is_folder).then_some(module),
        }
    }

    /// The file that defines `item`, which module `i` has or passes on.
    fn definition(&self, i: usize, item: &str, depth: usize) -> Option<usize> {
        let module = &self.modules[i];
        if depth > 8 || module.defines(item) {
            return (depth <= 8).then_some(i);
        }
        let resolve = |path: Vec<String>, item: &str| {
            let full = self.full_path(module, path);
            let parent = self.by_path.get(&full)?;
            self.definition(*parent, item, depth + 1)
        };
        if let Some(used) = module
            .uses
            .iter()
            .find(|u| u.name == item && u.path.len() > 1)
        {
            let (name, parent) = used.path.split_last()?;
            if let Some(found) = resolve(parent.to_vec(), name) {
                return Some(found);
            }
        }
        let mut globs = module.uses.iter().filter(|u| u.name == "*");
        globs.find_map(|u| resolve(u.path.clone(), item))
    }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Names, `::` and single signs; without comments, texts and unit tests. Fails where a text or a comment does not end:
/// then something before it was misread.
fn tokens(text: &str) -> Result<Vec<String>, String> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let chars: Vec<char> = code.chars().collect();
    let mut tokens = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let c = chars[i];
        let next = chars.get(i + 1).copied().unwrap_or(' ');
        if c == '/' && next == '/' {
            while i < chars.len() && chars[i] != '\n' {
                i += 1;
            }
        } else if c == '/' && next == '*' {
            i = after_comment(&chars, i)?;
        } else if c == '"' {
            i = after_text(&chars, i)?;
        } else if c == '\'' && next == '\\' {
            // Past the sign that is escaped, which may be a quote.
            i = after(&chars, i + 3, &['\''])?;
        } else if c == '\'' && chars.get(i + 2) == Some(&'\'') {
            i += 3;
        } else if c.is_alphanumeric() || c == '_' {
            let start = i;
            while i < chars.len() && (chars[i].is_alphanumeric() || chars[i] == '_') {
                i += 1;
            }
            let name: String = chars[start..i].iter().collect();
            let n_hashes = chars[i..].iter().take_while(|c| **c == '#').count();
            let begins_text = |at: usize| chars.get(at) == Some(&'"');
            if ["r", "br", "cr"].contains(&name.as_str()) && begins_text(i + n_hashes) {
                let mut end = vec!['#'; n_hashes + 1];
                end[0] = '"';
                i = after(&chars, i + n_hashes + 1, &end)?;
            } else if !(["b", "c"].contains(&name.as_str()) && begins_text(i)) {
                tokens.push(name);
            }
        } else if c == ':' && next == ':' {
            tokens.push("::".to_owned());
            i += 2;
        } else {
            if !c.is_whitespace() {
                tokens.push(c.to_string());
            }
            i += 1;
        }
    }
    Ok(tokens)
}

/// The index after the first `end` from `start` on.
fn after(chars: &[char], start: usize, end: &[char]) -> Result<usize, String> {
    let rest = chars.get(start..).unwrap_or_default();
    let at = rest.windows(end.len()).position(|part| part == end);
    at.map(|at| start + at + end.len())
        .ok_or_else(|| format!("{end:?} is missing at the end"))
}

/// The index after the text that begins at `start`.
fn after_text(chars: &[char], start: usize) -> Result<usize, String> {
    let mut i = start + 1;
    loop {
        match chars.get(i) {
            None => return Err("the end is inside of a text".to_owned()),
            Some('"') => return Ok(i + 1),
            Some('\\') => i += 2,
            Some(_) => i += 1,
        }
    }
}

/// The index after the comment that begins at `start`, with those inside of it.
fn after_comment(chars: &[char], start: usize) -> Result<usize, String> {
    let (mut i, mut depth) = (start, 0);
    loop {
        match chars.get(i..i + 2) {
            None => return Err("the end is inside of a comment".to_owned()),
            Some(['/', '*']) => {
                depth += 1;
                i += 2;
            }
            Some(['*', '/']) => {
                depth -= 1;
                i += 2;
                if depth == 0 {
                    return Ok(i);
                }
            }
            Some(_) => i += 1,
        }
    }
}

/// All leaves of the `use` declarations, and which tokens they take.
fn uses(tokens: &[String]) -> (Vec<Use>, Vec<bool>) {
    let mut uses = Vec::new();
    let mut in_use = vec![false; tokens.len()];
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at] != "use" {
            at += 1;
            continue;
        }
        let is_public = at > 0 && ["pub", ")"].contains(&tokens[at - 1].as_str());
        let end = (at..tokens.len())
            .find(|&i| tokens[i] == ";")
            .unwrap_or(tokens.len());
        in_use[at..end].fill(true);
        leaves(&tokens[at + 1..end], &[], is_public, &mut uses);
        at = end;
    }
    (uses, in_use)
}

/// The leaves of one tree of a `use` declaration below `prefix`.
fn leaves(tree: &[String], prefix: &[String], is_public: bool, uses: &mut Vec<Use>) {
    let mut path = prefix.to_vec();
    let mut name = None;
    let mut i = 0;
    while i < tree.len() {
        match tree[i].as_str() {
            "::" => {}
            "{" => {
                let mut depth = 0;
                let mut start = i + 1;
                for (j, token) in tree.iter().enumerate().skip(i) {
                    match token.as_str() {
                        "{" => depth += 1,
                        "}" => depth -= 1,
                        _ => {}
                    }
                    if token == "," && depth == 1 || depth == 0 {
                        if j > start {
                            leaves(&tree[start..j], &path, is_public, uses);
                        }
                        start = j + 1;
                    }
                    if depth == 0 {
                        return;
                    }
                }
            }
            "as" => {
                name = tree.get(i + 1).cloned();
                i += 1;
            }
            "self" if !path.is_empty() => {}
            "*" => name = Some("*".to_owned()),
            part => path.push(part.to_owned()),
        }
        i += 1;
    }
    let name = name.or_else(|| path.last().cloned());
    if let Some(name) = name {
        uses.push(Use {
            path,
            name,
            is_public,
        });
    }
}

#[test]
fn a_circle_through_a_face_is_found() {
    let file = |path: &str, text: &str| (PathBuf::from(path), text.to_owned());
    let face = "mod a;\nmod b;\npub use a::A;\npub struct Own;";
    let circles = |a: &str, b: &str, face: &str| {
        let files = [file("x/mod.rs", face), file("x/a.rs", a), file("x/b.rs", b)];
        let graph = ImportGraph::new(&files);
        graph
            .circles()
            .iter()
            .map(|c| graph.describe(c))
            .collect::<Vec<_>>()
    };
    // What the face passes on leads to the file that defines it.
    assert!(circles("pub struct A;", "use super::A;", face).is_empty());
    let found = circles(
        "use super::b::B; pub struct A;",
        "use crate::x::A; pub struct B;",
        face,
    );
    assert_eq!(found, ["  x/a.rs -> x/b.rs\n  x/b.rs -> x/a.rs"]);
    // What the face defines is for the files below it.
    let using = format!("{face} fn f() {{ b::g() }}");
    assert!(circles("", "use super::Own; pub fn g() {}", &using).is_empty());
    let aliased = circles(
        "use super::b; fn f() { b::g() } pub fn h() {}",
        "fn g() { super::a::h() }",
        face,
    );
    assert_eq!(aliased.len(), 1, "{aliased:?}");
}

#[test]
fn texts_and_comments_are_no_tokens() {
    let code = concat!(
        r##"use a::b; /* c /* d */ e::f */ g('\'', '\\', '\u{41}', '\"', 'h', b'\n');"##,
        r##"r#"use i::j; ""#; r"\"; b"\"k"; br#"l"#; "m\"n"; r#type; 'o: loop {} // p"##,
    );
    let expected = "use a :: b ; g ( , , , , , b ) ; ; ; ; ; ; r # type ; ' o : loop { }";
    let expected: Vec<&str> = expected.split(' ').collect();
    assert_eq!(tokens(code).unwrap(), expected);
    for open in ["\"a", "r#\"a\"", "/* a /* b */", "'\\n"] {
        assert!(tokens(open).is_err(), "{open}");
    }
}
