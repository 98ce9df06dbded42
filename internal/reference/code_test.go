package reference

import (
	"strings"
	"testing"

	"github.com/org/mcpeval-guidance/internal/name"
)

// everyCharacter is a name with each character of the grammar.
const everyCharacter = "AZaz09_.:-"

// inCodeOf returns the tools that the text names as inline code.
func inCodeOf(text string, names ...string) (tools []string) {
	for _, r := range NewExtractor(Want{}).Text(text).Match(listed(names...), true, false) {
		tools = append(tools, string(r.Tool))
	}
	return tools
}

// listed is a run that lists these names.
func listed(names ...string) *Listed {
	return NewListed(func(yield func(name.Name) bool) {
		for _, n := range names {
			if !yield(name.Name(n)) {
				return
			}
		}
	})
}

// referenceCases has a row for each sentence of CONTRACT.md section 3,
// "References". The known tools are t, u and everyCharacter.
var referenceCases = []struct {
	name string
	text string
	want string // the tools, in order of their first place
}{
	// A run of backticks, the exact name, a run of the same length.
	{"single ticks", "Use `t` first.", "t"},
	{"double ticks", "Use ``t`` first.", "t"},
	{"many ticks in a line of text", "Use `````t````` first.", "t"},
	{"the whole text", "`t`", "t"},
	{"two names, in order of place", "First `u`, then `t`, then `u`.", "u t"},
	{"all characters of the grammar", "Use `" + everyCharacter + "`.", everyCharacter},
	{"followed by s", "Two `t`s", "t"},
	{"between letters", "a`t`b", "t"},
	{"in a link", "[`t`](https://example.com/`x)", "t"},
	{"in bold", "**`t`** and _`u`_", "t u"},
	{"neighbours", "`t``u`", ""},
	{"neighbours with a space", "`t` `u`", "t u"},
	{"double open, single close", "Use ``t` first.", ""},
	{"single open, double close", "Use `t`` first.", ""},
	{"no close", "Use `t first.", ""},
	{"ticks across lines", "Use `\nt\n` first.", ""},
	{"other case", "Use `T`.", ""},
	{"unknown", "Use `x`.", ""},
	{"part of a name", "Use `t-t` and `tt`.", ""},
	{"empty spans", "`` `` ``", ""},

	// Not a reference.
	{"bare name", "Use t first.", ""},
	{"quoted name", "Use \"t\" or 't'.", ""},
	{"call", "Use `t()`.", ""},
	{"call with a space", "Use `t ()`.", ""},
	{"namespace", "Use `ns.t`.", ""},
	{"other text", "Use `call t` or `t now`.", ""},
	{"bold inside", "Use `**t**`.", ""},
	{"escaped tick", "Use \\`t` first.", ""},
	{"both ticks escaped", "Use \\`t\\` first.", ""},
	{"closing tick escaped is other text", "Use `t\\` first.", ""},
	{"double backslash escapes itself", "Use \\\\`t` first.", "t"},
	{"three backslashes", "Use \\\\\\`t` first.", ""},
	{"four backslashes", "\\\\\\\\`t`", "t"},
	{"escaped first tick of two", "Use \\``t` first.", "t"},
	{"escaped first tick of two, double close", "Use \\``t`` first.", ""},
	{"escaped tick before a reference", "A \\` and `t`.", "t"},
	{"backslash on the line before", "A \\\n`t`.", "t"},

	// A stray tick elsewhere never hides one.
	{"stray tick in an earlier paragraph", "It`s so.\n\nUse `t`.", "t"},
	{"stray tick in the same paragraph", "It`s so. Use `t`.", "t"},
	{"stray tick on the line before", "It`s so.\nUse `t`.", "t"},
	{"stray tick after", "Use `t`. It`s so.", "t"},
	{"stray double tick", "It``s so. Use `t` and ``u``.", "t u"},
	{"three stray ticks in text", "A ``` in text, then `t`.", "t"},

	// Padding.
	{"padding", "Use ` t ` first.", "t"},
	{"padding in double ticks", "Use `` t `` first.", "t"},
	{"padding after a stray tick in an earlier paragraph", "It`s so.\n\nUse ` t `.", "t"},
	{"padding after a stray tick in the same paragraph", "It`s so. Use ` t `.", ""},
	{"padding after a stray tick of another length", "It``s so. Use ` t `.", "t"},
	{"text between two spans is not padded", "`a` t `b`", ""},
	{"text between two padded spans", "` t ` u ` t `", "t"},
	{"padding across a line", "a ` b\nc ` t `", ""},
	{"the pairing spans lines", "a `b\nc` then ` t `", "t"},
	{"two spaces", "Use `  t  `.", ""},
	{"two spaces on one side", "Use `  t `.", ""},
	{"one side only: left", "Use ` t`.", ""},
	{"one side only: right", "Use `t `.", ""},
	{"tab padding", "Use `\tt\t`.", ""},
	{"no-break space padding", "Use `\u00a0t\u00a0`.", ""},
	{"padding by a line end", "Use `\nt `.", ""},
	{"escaped tick does not open padding", "Use \\` t `.", ""},
	{"backslash escapes nothing inside a span", "`a\\` b ` t `", "t"},
	{"a backslash before the closing run", "`` a\\`` ` t `", "t"},
	{"padded after an escaped tick", "\\` a ` t `", "t"},
	{"only padding", "Use `  `.", ""},
	{"padded in a longer span of text", "``a ` t ` b``", ""},
	{"padded in a longer span, the plain form", "``a `t` b``", "t"},

	// Fences.
	{"backtick fence", "```\n`t`\n```\n`u`", "u"},
	{"tilde fence", "~~~\n`t`\n~~~\n`u`", "u"},
	{"info string", "```go run\n`t`\n```\n`u`", "u"},
	{"tilde info string with ticks", "~~~ `u`\n`t`\n~~~", ""},
	{"backtick info string with ticks is no fence", "``` `a`\n`t`", "t"},
	{"a span of three ticks is no fence", "```t```\n`u`", "t u"},
	{"two ticks are no fence", "``\n`t`\n``", "t"},
	{"indented 4", "    ```\n    `t`\n    ```\n`u`", "u"},
	{"indented 40 with a tab", strings.Repeat(" ", 40) + "\t```\n`t`\n```\n`u`", "u"},
	{"closing indented otherwise", "```\n`t`\n        ```\n`u`", "u"},
	{"longer closing", "```\n`t`\n`````\n`u`", "u"},
	{"shorter closing is code", "````\n`t`\n```\n`u`\n````\n`t`", "t"},
	{"other closing is code", "```\n~~~\n`t`\n```\n`u`", "u"},
	{"closing with an info string is code", "```\n`t`\n``` go\n`t`\n```\n`u`", "u"},
	{"closing with blanks after", "```\n`t`\n``` \t\n`u`", "u"},
	{"unclosed", "`u`\n```\n`t`\n\n\n# A\n\n`t`", "u"},
	{"in a list item", "- ```\n  `t`\n  ```\n- `u`", "u"},
	{"in an ordered item", "1. ```\n   `t`\n   ```\n2. `u`", "u"},
	{"in a nested list item", "- 1) * ```\n      `t`\n      ```\n- `u`", "u"},
	{"below a list item", "- use\n  ```\n  `t`\n  ```\n- `u`", "u"},
	{"in a block quote", "> ```\n> `t`\n> ```\n`u`", "u"},
	{"a block quote ends its fence", "> ```\n> `t`\n\n`u`", "u"},
	{"a nested quote ends its fence", "> > ```\n> > `t`\n> `u`", "u"},
	{"in a list item in a quote", "> - ```\n>   `t`\n>   ```\n`u`", "u"},
	{"in a quote in a list item", "- > ```\n  > `t`\n  > ```\n- `u`", "u"},
	{"in a quote in an item in a quote", "> - > ```\n>   > `t`\n>   > ```\n`u`", "u"},
	{"a quote mark in a fence is code", "```\n> ```\n`t`\n```\n`u`", "u"},
	{"a list mark in a fence is code", "```\n- ```\n`t`\n```\n`u`", "u"},
	{"interrupts a paragraph", "Example:\n```\n`t`\n```\n`u`", "u"},
	{"in an item whose number may not interrupt a paragraph", "Text\n2. ```\n`t`", "t"},
	{"in an item that may interrupt a paragraph", "Text\n1. ```\n`t`", ""},
	{"in an item of a quote that interrupts a paragraph", "Text\n> 2. ```\n> `t`\n\n`u`", "u"},
	{"a fence and a stray tick", "It`s\n```\n`t`\n```\n` u `", "u"},
	{"a fence splits the paragraph", "a `\n```\nx\n```\n` u `", "u"},

	// Line ends.
	{"CRLF", "Use:\r\n```\r\n`t`\r\n```\r\n`u`\r\n", "u"},
	{"CR", "Use:\r```\r`t`\r```\r`u`\r", "u"},
	{"CRLF blank line ends a paragraph", "It`s\r\n\r\n` t `", "t"},
	{"CR blank line ends a paragraph", "It`s\r\r` t `", "t"},
	{"CRLF is one line end", "It`s\r\n` t `", ""},
	{"LF CR are two", "It`s\n\r` t `", "t"},
	{"a name is not joined over CR", "`t\r`", ""},

	// Indentation never hides a reference.
	{"docstring", "\n    Use `t` first.\n\n        Then `u`.\n    ", "t u"},
	{"docstring with tabs", "\tUse `t`.\n\n\t\t\t` u `", "t u"},
	{"indented stray tick in an earlier paragraph", "    It`s so.\n    \n    Use ` t `.", "t"},

	// Paragraph borders, which end a stray tick's reach over padded names.
	{"heading", "It`s\n# A\n` t `", "t"},
	{"heading holds a reference", "# Use `t`\n## ` u `", "t u"},
	{"stray tick in a heading", "# It`s\n` t `", "t"},
	{"heading without text", "It`s\n##\n` t `", "t"},
	{"seven marks are no heading", "It`s\n####### A\n` t `", ""},
	{"no blank, no heading", "It`s\n#A\n` t `", ""},
	{"setext underline", "It`s\n===\n` t `", "t"},
	{"setext dashes", "It`s\n-\n` t `", "t"},
	{"thematic break", "It`s\n* * *\n` t `", "t"},
	{"thematic break of underscores", "It`s\n___\n` t `", "t"},
	{"two stars are none", "It`s\n**\n` t `", ""},
	{"list item", "It`s\n- ` t `", "t"},
	{"stray tick in the item before", "- It`s\n- ` t `", "t"},
	{"plus and star items", "+ It`s\n+ ` t `\n* It`s\n* ` u `", "t u"},
	{"ordered item 1 interrupts", "It`s\n1. ` t `", "t"},
	{"ordered item 2 does not", "It`s\n2. ` t `", ""},
	{"an empty item does not interrupt", "It`s\n1.\n` t `", ""},
	{"an empty item after an item", "1. It`s\n2.\n` t `", "t"},
	{"an empty star after an item", "* It`s\n*\n` t `", "t"},
	{"ordered item 2 after a quote", "> It`s\n2. ` t `", "t"},
	{"ordered item 2 in a quote's paragraph", "> It`s\n> 2. ` t `", ""},
	{"ordered item 2 after item 1", "1. It`s\n2. ` t `", "t"},
	{"ordered item in parentheses", "1) It`s\n2) ` t `", "t"},
	{"ten digits are no number", "1. It`s\n1234567890. ` t `", ""},
	{"no blank after the mark", "It`s\n-` t `", ""},
	{"an item goes on", "- It`s\n  ` t `", ""},
	{"an item goes on lazily", "- It`s\n` t `", ""},
	{"block quote", "It`s\n> ` t `", "t"},
	{"a quote goes on", "> It`s\n> ` t `", ""},
	{"a quote goes on lazily", "> It`s\n` t `", ""},
	{"a deeper quote begins", "> It`s\n> > ` t `", "t"},
	{"a blank quote line ends", "> It`s\n>\n> ` t `", "t"},
	{"blank lines with blanks", "It`s\n \t \n` t `", "t"},
	{"a paragraph goes on", "It`s\n` t `", ""},
	{"hard break goes on", "It`s  \n` t `", ""},
	{"a rule in an item", "- It`s\n- ***\n- ` t `", "t"},
	{"form feed is no blank line", "It`s\n\f\n` t `", ""},
}

func TestInlineCode(t *testing.T) {
	t.Parallel()
	for _, c := range referenceCases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(inCodeOf(c.text, "t", "u", everyCharacter), " ")
			if got != c.want {
				t.Errorf("%q names %q, not %q", c.text, got, c.want)
			}
		})
	}
}

// hostile texts are shapes that made, or could make, a detector slow: each
// repeats its parts to about size bytes.
func hostile(size int) map[string]string {
	fill := func(part string) string { return strings.Repeat(part, size/len(part)) }
	var alternating strings.Builder
	for n := 1; alternating.Len() < size; n = n%200 + 1 {
		alternating.WriteString(strings.Repeat("`", n))
		alternating.WriteByte('a')
	}
	return map[string]string{
		"spans":              fill("`a`"),
		"spaced spans":       fill("` a ` "),
		"lines of spans":     fill("`a`\n"),
		"open lines":         fill("`a\n"),
		"alternating runs":   alternating.String(),
		"ticks":              fill("`"),
		"backslashes":        fill("\\") + "`",
		"escaped ticks":      fill("\\`"),
		"list marks":         fill("- ") + "x",
		"list marks, a rule": fill("1. ") + "x" + fill("-"),
		"two marks in turn":  fill("- * ") + "x",
		"quote marks":        fill("> ") + "x",
		"quoted lists":       fill("> - ") + "x",
		"empty lines":        fill("\n"),
		"CRs":                fill("\r"),
		"fence lines":        fill("```\n"),
		"digits":             fill("1"),
		"headings":           fill("# `a`\n"),
		"joiners":            fill("-"),
		"double joiners":     fill("a_--"),
		"slashes":            fill("a_bcd/"),
		"slashes alone":      fill("/"),
		"one piece":          fill("a_b-c."),
		"letters":            fill("é"),
		"quotes":             fill("'\""),
		"calls":              fill("use the get_me "),
		"calls in quotes":    fill("use ''get_me'' "),
		"the":                fill("the "),
		"called over lines":  fill("the\nget_me\n"),
		"blanks":             "use" + fill(" ") + "get_me" + fill(" ") + "tool",
	}
}

// TestHostileTextsEnd: none takes more than linear time, or this would not end.
func TestHostileTextsEnd(t *testing.T) {
	t.Parallel()
	for name, text := range hostile(1 << 18) {
		t.Run(name, func(t *testing.T) {
			x := NewExtractor(Want{Words: true, Unlisted: true, Places: true})
			x.Text(text).Match(listed("t", "get_me"), true, true)
		})
	}
}
