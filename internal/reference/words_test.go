package reference

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/org/mcpeval-guidance/internal/name"
)

// wordsOf returns the tools that the text names as plain words.
func wordsOf(text string, names ...string) (tools []string) {
	for _, r := range NewExtractor(Want{Words: true}).Text(text).Match(listed(names...), false, true) {
		tools = append(tools, string(r.Tool))
	}
	slices.Sort(tools)
	return tools
}

// wordCases has a row for each example of CONTRACT.md section 3.4. The known
// tools are those of known.
var (
	known     = []string{"get_me", "list_me", "listIssues", "search", "batch", "get_page", "set_page", "a--b_c", "get_me.", "x:y_z", "get-me", "a.bc."}
	wordCases = []struct {
		text string
		want string
	}{
		{"Call get_me first.", "get_me"},
		{"It ends with get_me.", "get_me get_me."},
		{"listIssues", "listIssues"},
		{"search and batch are words of English", ""},
		{"'get_me'", "get_me"},
		{`"get_me"`, "get_me"},
		{"**get_me**", "get_me"},
		{"*get_me*", "get_me"},
		{"get_me()", "get_me"},
		{"`get_me(x=1)`", "get_me"},
		{"(get_me, list_me)", "get_me list_me"},
		{"repo/get_me", ""},
		{"get_me/repo", ""},
		{"get_me.py", ""},
		{"mcp__x__get_me", ""},
		{"get_me_too", ""},
		{"get_mes", ""},
		{"éget_me", ""},
		{"get_meé", ""},
		{"get_me日", ""},
		{"_get_me", ""},
		{"x-get_me", ""},
		{"x.get_me", ""},
		{"x:get_me", ""},
		{"get_me-x", ""},
		{"--get_me", "get_me"},
		{"get_me--", "get_me"},
		{"get_me-", "get_me"},
		{"get_me: it is", "get_me"},
		{"/get_me/", "get_me"},
		{"get_page/set_page", "get_page set_page"},
		{"get_page/other_page", ""},
		{"get_page/set_page/get_me", "get_me get_page set_page"},
		{"get_page/set_page/x", "get_page"},
		{"search/get_page", ""},
		{"a--b_c", "a--b_c"},
		{"x:y_z", "x:y_z"},
		{"It ends with a.bc.", "a.bc."},
		{"GET_ME", ""},
		{"```\nget_me\n```\nlist_me", "list_me"},
		{"~~~\nget_me", ""},
		{"[get_me](get_me.html)", "get_me"},
		{"get_me,list_me;get-me", "get-me get_me list_me"},
		{"get\\_me", ""},
		{"@get_me", "get_me"},
		{"#get_me", "get_me"},
	}
)

func TestWords(t *testing.T) {
	t.Parallel()
	for _, c := range wordCases {
		if got := strings.Join(wordsOf(c.text, known...), " "); got != c.want {
			t.Errorf("%q names %q, not %q", c.text, got, c.want)
		}
	}
}

func TestUnmistakable(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]bool{
		"get_me": true, "listIssues": true, "get-me": true, "ns.me": true, "ns:me": true, "abcd1": true, "aBcde": true,
		"search": false, "batch": false, "Search": false, "_search": false, "a_b": false, "get1": false, "1abcd": false,
	} {
		if got := Unmistakable(word); got != want {
			t.Errorf("%s: %v", word, got)
		}
	}
}

// modelWords is written from CONTRACT.md section 3.4 alone: each occurrence of
// each known, unmistakable name, outside fenced code, judged by its neighbours.
func modelWords(text string, names []string) []string {
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
	found := map[string]bool{}
	unmistakable := func(n string) bool {
		return len(n) >= 5 && strings.ContainsFunc(n[1:], func(r rune) bool {
			return strings.ContainsRune("_-.:", r) || unicode.IsDigit(r) || unicode.IsUpper(r)
		})
	}
	for _, paragraph := range modelParagraphs(text) {
		for _, line := range paragraph {
			runes := []rune(line)
			at := func(i int) rune {
				if i < 0 || i >= len(runes) {
					return ' '
				}
				return runes[i]
			}
			// hidden says whether the character at i, with the one behind it,
			// hides a name beside it; slash that it does so as a slash.
			hidden := func(i, step int) (hidden, slash bool) {
				switch c := at(i); {
				case isWord(c):
					return true, false
				case strings.ContainsRune("-.:/", c):
					return isWord(at(i + step)), c == '/'
				}
				return false, false
			}
			type spot struct {
				name                  string
				from, to              int
				leftSlash, rightSlash bool
			}
			var spots []spot
			for _, n := range names {
				if !unmistakable(n) {
					continue
				}
				for i := 0; i+len(n) <= len(runes); i++ {
					if string(runes[i:i+len(n)]) != n {
						continue
					}
					left, leftSlash := hidden(i-1, -1)
					right, rightSlash := hidden(i+len(n), 1)
					if left && !leftSlash || right && !rightSlash {
						continue
					}
					spots = append(spots, spot{n, i, i + len(n), left, right})
				}
			}
			for _, s := range spots {
				leftOK, rightOK := !s.leftSlash, !s.rightSlash
				for _, other := range spots {
					leftOK = leftOK || other.to == s.from-1
					rightOK = rightOK || other.from == s.to+1
				}
				if leftOK && rightOK {
					found[s.name] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func compareWords(t *testing.T, text string) bool {
	if diff := cmp.Diff(modelWords(text, known), wordsOf(text, known...)); diff != "" && len(modelWords(text, known))+len(wordsOf(text, known...)) > 0 {
		t.Errorf("model and detector differ on %q:\n%s", text, diff)
		return false
	}
	return true
}

func TestWordsLikeModel(t *testing.T) {
	t.Parallel()
	pieces := []string{"get_me", "get_page", "set_page", "list_me", "a--b_c", "get_me.", "x:y_z", "get-me", "x", "é", "1", "_", "-", "--", ".", ":", "/", " ", " ", "\n", "(", ")", "`", "*", "'", "@", "```\n", "\n\n", ", "}
	random := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		var text strings.Builder
		for range 1 + random.IntN(12) {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		if !compareWords(t, text.String()) {
			return
		}
	}
}

func FuzzWords(f *testing.F) {
	for _, c := range wordCases {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) <= 2000 && strings.ToValidUTF8(text, "") == text {
			compareWords(t, text)
		}
	})
}

// unlistedOf returns the names that no session lists and that the text calls
// for, in a session with this catalog.
func unlistedOf(text string, tools ...string) (found []string) {
	var catalog []name.Name
	for _, tool := range tools {
		catalog = append(catalog, name.Name(tool))
	}
	texts := &Texts{Instructions: NewExtractor(Want{Words: true, Unlisted: true}).Text(text)}
	for _, c := range texts.Unlisted(listed(tools...), catalog, true) {
		found = append(found, string(c.Tool))
	}
	slices.Sort(found)
	return found
}

// CONTRACT.md section 3.4, the rules of unlisted names.
func TestUnlisted(t *testing.T) {
	t.Parallel()
	snake := []string{"get_page", "get_user", "list_pages", "list_users", "search"}
	for _, c := range []struct {
		text  string
		want  string
		tools []string
	}{
		// Rule 5: the text calls for it.
		{"Use get_old first.", "get_old", snake},
		{"using get_old", "get_old", snake},
		{"CALL `get_old`", "get_old", snake},
		{"calling **get_old**", "get_old", snake},
		{"It calls the 'get_old'", "get_old", snake},
		{"run the `get_old`", "get_old", snake},
		{"invoke get_old, via list_old, try list_older", "get_old list_old list_older", snake},
		{"execute get_old", "get_old", snake},
		{"first search -> get_old", "get_old", snake},
		{"x → get_old", "get_old", snake},
		{"x => get_old", "get_old", snake},
		{"get_old(id)", "get_old", snake},
		{"`get_old`(id)", "get_old", snake},
		{"get_old→x", "get_old", snake},
		{"the get_old tool", "get_old", snake},
		{"the `get_old` MCP tool", "get_old", snake},
		{"the get_old tools", "", snake},
		{"the get_old toolbox", "", snake},
		{"get_old is gone", "", snake},
		{"reuse get_old", "", snake},
		{"Use\nget_old", "get_old", snake},
		{"Use.\n\nget_old", "", snake},
		{"Use: get_old", "", snake},
		// Rule 1: a word of its own, at least five characters, two parts.
		{"use get_old.py", "", snake},
		{"use x/get_old", "", snake},
		{"use @get_old", "", snake},
		{"use get_old@x", "", snake},
		{"use GET_OLD", "", snake},
		{"use get_", "", snake},
		{"use ns.get_old", "", snake},
		{"use get_old.", "get_old", snake},
		// Rule 2: the style of most.
		{"use get-old or getOld", "", snake},
		{"use get-old", "get-old", []string{"get-page", "get-user", "x_y"}},
		{"use getOld", "getOld", []string{"getPage", "getUser"}},
		{"use GetOld", "", []string{"GetPage", "GetUser"}},
		{"use get_old", "", []string{"get_page", "get-user", "get_x", "get-y"}},
		// Rule 3: a first part that at least two have.
		{"use drop_old", "", snake},
		{"use search_old", "", snake},
		// Rule 4: no session lists it.
		{"use get_page", "", snake},
		// Rule 6: no action of another tool.
		{"get_page get_old(x)", "", snake},
		{"a get_old(x)", "get_old", snake},
		{"```\nuse get_old\n```", "", snake},
	} {
		if got := strings.Join(unlistedOf(c.text, c.tools...), " "); got != c.want {
			t.Errorf("%q calls for %q, not %q", c.text, got, c.want)
		}
	}
}

// A tool's texts are its description and the descriptions of its schema; the
// schema's own words are no tools.
func TestToolTexts(t *testing.T) {
	t.Parallel()
	const description = `"See get_me."`
	schema := `{"type":"object","description":"get_page","default":{"description":"no_default"},"examples":[{"description":"no_example"}],
		"properties":{"description":{"type":"string","description":"set_page"},"get_secret":{"enum":["get_value",["get_inner"],{"x":"get_deep"}],"const":"get_const","default":"get_gone","title":"get_gone","items":{"description":"list_me"}},
		"mode":{}},"$defs":{"x":{"anyOf":[{"description":"get-me"}]}},"not":{"const":{"description":"no_const"}}}`
	if !json.Valid([]byte(schema)) {
		t.Fatal("the schema is no JSON")
	}
	x := NewExtractor(Want{Words: true, Descriptions: true, Unlisted: true})
	tool := x.Tool([]byte(description), []byte(schema))
	var got []string
	for _, r := range tool.Match(listed("get_me", "get_page", "set_page", "list_me", "get-me", "no_default", "no_example", "no_const"), true, true) {
		got = append(got, string(r.Tool))
	}
	slices.Sort(got)
	if want := []string{"get-me", "get_me", "get_page", "list_me", "set_page"}; !slices.Equal(got, want) {
		t.Errorf("names %q, not %q", got, want)
	}
	if !tool.acts {
		t.Error("a parameter named mode is not seen")
	}
	for schema, want := range map[string]bool{
		`{"properties":{"mode":{}}}`:                                      true,
		`{"properties" : {"a":{"properties":{"op":{}}}} }`:                false,
		`{"anyOf":[{"properties":{"a":{}}},{"properties":{"action":1}}]}`: true,
		`{"default":{"properties":{"op":{}}},"properties":[]}`:            false,
	} {
		if got := x.Tool(nil, []byte(schema)).acts; got != want {
			t.Errorf("%s acts: %v", schema, got)
		}
	}
	texts := &Texts{Instructions: x.Text("use get_secret, use get_value, use get_const, use get_inner, use get_deep, use get_gone")}
	texts.Add("get_page", tool)
	var unlisted []string
	for _, c := range texts.Unlisted(listed("get_page", "get_user"), []name.Name{"get_page", "get_user"}, true) {
		unlisted = append(unlisted, string(c.Tool))
	}
	if !slices.Equal(unlisted, []string{"get_gone"}) {
		t.Errorf("unlisted: %q", unlisted)
	}
}

// Places find the line in the user's repository.
func TestPlaces(t *testing.T) {
	t.Parallel()
	x := NewExtractor(Want{Words: true, Descriptions: true, Places: true})
	places := func(text *Text, tool string) []Context {
		for _, r := range text.Match(listed("get_me", "list_me"), true, true) {
			if string(r.Tool) == tool {
				return r.Places()
			}
		}
		return nil
	}
	text := x.Text("Héllo, wörld!\r\nUse `get_me` now.\nThen list_me.")
	want := []Context{{Line: "Use `get_me` now.", Before: "HéllowörldUse", After: "nowThenlistme"}}
	if diff := cmp.Diff(want, places(text, "get_me")); diff != "" {
		t.Error(diff)
	}
	want = []Context{{Line: "Then list_me.", Before: "HéllowörldUsegetmenowThen", After: ""}}
	if diff := cmp.Diff(want, places(text, "list_me")); diff != "" {
		t.Error(diff)
	}
	tool := x.Tool([]byte(`"First text."`), []byte(`{"properties":{"a":{"description":"Get it from get_me."},"b":{"description":"get_me"}}}`))
	want = []Context{{Line: "Get it from get_me.", Before: "Getitfrom"}, {Line: "get_me"}}
	if diff := cmp.Diff(want, places(&tool.Text, "get_me")); diff != "" {
		t.Error(diff)
	}
	long := x.Text(strings.Repeat("x y ", 2000) + "get_me" + strings.Repeat(" é", 2000))
	if got := places(long, "get_me"); len(got) != 1 || got[0].Line != "" || len([]rune(got[0].Before)) != maxAround || len([]rune(got[0].After)) != maxAround {
		t.Errorf("a long line: %+v", got)
	}
	many := x.Text(strings.Repeat("get_me\n", 50))
	if got := places(many, "get_me"); len(got) != maxPlaces {
		t.Errorf("%d places", len(got))
	}
}

// What has no room is said, where a finding could have rested on it.
func TestOverflow(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 400_000 {
		text.WriteString("w_")
		text.WriteString(string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676%26)) + string(rune('a'+i/17576%26)))
		text.WriteByte(' ')
	}
	run := listed("get_me")
	x := NewExtractor(Want{Words: true})
	if x.Text(text.String()); !x.Overflow(run) {
		t.Error("400,000 words have no bound")
	}
	x = NewExtractor(Want{})
	if x.Text(text.String() + "`get_me`"); x.Overflow(run) {
		t.Error("words that do not count are said to be lost")
	}
	if got := x.Text(text.String()+"`get_me`").Match(run, true, false); len(got) != 1 {
		t.Errorf("the reference is lost: %v", got)
	}
}
