//go:build unix

package locate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// style writes words, of which some are tools in ticks, as a language would.
type style struct {
	name          string
	start, end    string
	open, close   string // around each piece
	between       string // between pieces of a line's text
	lineEnd       string // what a line end of the text is inside a piece
	tick          string
	tool          func(name string) string // nil: as it is
	pieces, lines bool                     // pieces are cut at random; every line of the text is cut
}

func camel(name string) string {
	first, rest, _ := strings.Cut(name, "_")
	return first + strings.ToUpper(rest[:1]) + rest[1:]
}

var styles = []style{
	{name: "markdown", lineEnd: "\n", tick: "`", between: "\n", pieces: true},
	{name: "JavaScript added", start: "const a =\n", open: "  '", close: "'", between: " +\n", lineEnd: `\n`, tick: "`", pieces: true, lines: true},
	{name: "JavaScript array", start: "const a = [\n", end: "].join(' ')", open: "  \"", close: "\"", between: ",\n", lineEnd: "", tick: "`", pieces: true, lines: true},
	{name: "JavaScript template", start: "const a = `\n", end: "`", lineEnd: "\n", tick: "\\`", tool: func(name string) string { return "${TOOLS." + camel(name) + "}" }},
	{name: "JavaScript template, other names", start: "const a = `\n", end: "`", lineEnd: "\n", tick: "\\`", tool: func(name string) string { return "${T.t" + fmt.Sprint(len(name)*7%5) + "}" }},
	{name: "JavaScript constants added", start: "const a =\n", open: "  '", close: "'", between: " +\n", lineEnd: `\n`, tick: "`", tool: func(name string) string { return "' + " + strings.ToUpper(name) + " + '" }, lines: true},
	{name: "Python implicit", start: "a = (\n", end: ")", open: "    \"", close: "\"", between: "\n", lineEnd: `\n`, tick: "`", pieces: true, lines: true},
	{name: "Python f-strings", start: "a = (\n", end: ")", open: "    f\"", close: "\"", between: "\n", lineEnd: `\n`, tick: "`", tool: func(name string) string { return "{" + strings.ToUpper(name) + "}" }, pieces: true, lines: true},
	{name: "Go raw glued", start: "const a = `", end: "`", lineEnd: "\n", tick: "` + \"`\" + `"},
	{name: "Go builder", start: "func a() {\n", end: "}", open: "\tb.WriteString(\"", close: "\")", between: "\n", lineEnd: `\n`, tick: "`", pieces: true, lines: true},
	{name: "YAML folded", start: "a: >-\n", open: "  ", between: "\n", lineEnd: "\n", tick: "`", pieces: true, lines: true},
	{name: "Swift", start: "let a = \"\"\"\n", end: "\"\"\"", open: "  ", between: "\\\n", lineEnd: "\n", tick: "`", tool: func(name string) string { return "\\(Tool." + camel(name) + ".rawValue)" }, pieces: true},
	{name: "JSON", start: "{\"a\": \"", end: "\"}", lineEnd: `\n`, tick: "`"},
}

// write returns the file, and the lines of each tool's mentions.
func (s style) write(r *rand.Rand, text []string) (string, map[string][]int) {
	var b strings.Builder
	at := map[string][]int{}
	b.WriteString(s.start + s.open)
	for i, word := range text {
		if word == "\n" {
			b.WriteString(s.lineEnd)
			if s.lines && i+1 < len(text) {
				b.WriteString(s.close + s.between + s.open)
			}
			continue
		}
		if i > 0 && text[i-1] != "\n" {
			cut := s.pieces && r.IntN(8) == 0
			if !cut || s.between != "\n" || s.open == "    \"" {
				b.WriteString(" ")
			}
			if cut {
				b.WriteString(s.close + s.between + s.open)
			}
		}
		if name, ok := strings.CutPrefix(word, "`"); ok {
			name, tail, _ := strings.Cut(name, "`")
			shown := name
			if s.tool != nil {
				shown = s.tool(name)
			}
			at[name] = append(at[name], strings.Count(b.String(), "\n")+1)
			word = s.tick + shown + s.tick + tail
		}
		b.WriteString(word)
	}
	b.WriteString(s.close + "\n" + s.end + "\n")
	return b.String(), at
}

// sentences are words with a tool in ticks in each: many of them are alike.
func sentences(r *rand.Rand, count int, verbs ...string) (text []string, tools []string) {
	nouns := []string{"page", "issue", "branch", "comment", "user", "label", "file"}
	words := strings.Fields("the workspace project first before after every result of a person until there are no more changes to review and then wait for an answer that says which one it was with care when its owner asks about any folder")
	for range count {
		verb, noun := verbs[r.IntN(len(verbs))], nouns[r.IntN(len(nouns))]
		tool := verb + "_" + noun
		tools = append(tools, tool)
		switch r.IntN(4) {
		case 0:
			text = append(text, "-", "`"+tool+"`:", verb, "one", noun, "of", "the", "project,", "if", "it", "is", "there.")
		case 1:
			text = append(text, "Use", "`"+tool+"`", "to", verb, "the", noun)
		case 2:
			text = append(text, "When", "the", noun, "is", "unknown,", "call", "`"+tool+"`,")
		case 3:
			text = append(text, "Never", "call", "`"+tool+"`", "without")
		}
		for range r.IntN(14) {
			text = append(text, words[r.IntN(len(words))])
		}
		text = append(text, "\n")
	}
	return text, tools
}

// TestRandomTexts: in texts whose sentences are much alike, with a document
// that has most of them in other words, nearly every tool has a place, and
// none has a wrong one: there, or in a text that names other tools in the same
// sentences.
func TestRandomTexts(t *testing.T) {
	t.Parallel()
	for _, s := range styles {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			right, none, wrong := 0, 0, 0
			for seed := range uint64(4) {
				r := rand.New(rand.NewPCG(seed, 7))
				text, tools := sentences(r, 3+r.IntN(12), "get", "list", "create", "delete", "search", "update")
				joiner := strings.NewReplacer(" \n ", "\n", " \n", "\n")
				says := joiner.Replace(strings.Join(text, " "))
				if s.name == "JavaScript array" || s.name == "YAML folded" {
					says = strings.ReplaceAll(says, "\n", " ")
				}
				file, lines := s.write(r, text)
				document := styles[0]
				changed := append([]string(nil), text...)
				for i := range changed {
					if r.IntN(6) == 0 && changed[i] != "\n" {
						changed[i] = "changed"
					}
				}
				prose, _ := document.write(r, changed)
				search := func(mentions []Mention) map[Key]Position {
					q := newSearch(mentions)
					q.look(t.Context(), source{file: "README.md", aside: true}, []byte(prose))
					q.look(t.Context(), source{file: "a"}, []byte(file))
					return q.places(mentions, enough)
				}
				other, _ := sentences(r, 20, "read", "write", "merge", "open", "close")
				others, _ := s.write(r, other)
				elsewhere := 0
				for _, tool := range tools {
					mentions := []Mention{{Key{Tool: tool}, contexts(says, "`"+tool+"`")}}
					for i := range mentions[0].Contexts {
						mentions[0].Contexts[i].Line = "" // it may well be in the document
					}
					q := newSearch(mentions)
					q.look(t.Context(), source{file: "b"}, []byte(others))
					if got, ok := q.places(mentions, enough)[Key{Tool: tool}]; ok {
						elsewhere++
						t.Logf("seed %d: %s at %s of another text\n%s\n%s", seed, tool, shown(got), says, others)
					}
				}
				if wrong += elsewhere; elsewhere > 0 {
					continue
				}
				for _, tool := range tools {
					got, ok := search([]Mention{{Key{Tool: tool}, contexts(says, "`"+tool+"`")}})[Key{Tool: tool}]
					switch {
					case !ok:
						none++
					case got.File == "a" && slices.Contains(lines[tool], got.Line):
						right++
					default:
						wrong++
						t.Logf("seed %d: %s at %s, want a:%v\n%s\n%s", seed, tool, shown(got), lines[tool], file, prose)
					}
				}
			}
			t.Logf("%d right, %d none, %d wrong", right, none, wrong)
			if wrong > 0 || right*100 < 95*(right+none) {
				t.Errorf("%d right, %d none, %d wrong", right, none, wrong)
			}
		})
	}
}
