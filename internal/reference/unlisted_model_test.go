package reference

import (
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// The model of this file is written from CONTRACT.md section 3.4, "Unlisted
// names", alone, with regular expressions over whole paragraphs.

var (
	// A word of rule 1, with what may stand beside it.
	modelUnlistedWord = regexp.MustCompile(`[\pL\p{Nd}_]+(?:-[\pL\p{Nd}_]+)*`)
	modelPart         = regexp.MustCompile(`[A-Z]?[^A-Z_-]+|[A-Z]`)
	modelNotAlone     = regexp.MustCompile(`^(@|[-.:/][\pL\p{Nd}_])`)
	modelNotAloneLeft = regexp.MustCompile(`(@|[\pL\p{Nd}_][-.:/])$`)

	modelBetween = "[ \\t\\n`'\"*‘’‚“”„«»‹›]"
	modelBefore  = regexp.MustCompile(`(?i)((?:→|->|=>)` + modelBetween + `*|(?:^|[^\pL\p{Nd}_.:-])(?:use|using|call|calling|calls|run|invoke|via|try|execute)` +
		modelBetween + `+)(?:the` + modelBetween + `+)?$`)
	modelAfter    = regexp.MustCompile("(?i)^[`'\"*‘’‚“”„«»‹›]*(\\(|→|->|=>|[ \\t\\n]+(mcp[ \\t\\n]+)?tool(?:[^\\pL\\p{Nd}_]|$))")
	modelWordLast = regexp.MustCompile(`([\pL\p{Nd}_.:-]*[\pL\p{Nd}_])` + modelBetween + `*$`)

	modelStyles = []*regexp.Regexp{
		regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)+$`),
		regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)+$`),
		regexp.MustCompile(`^[a-z0-9]+([A-Z][a-z0-9]*)+$`),
	}
)

func modelStyle(word string) int {
	return slices.IndexFunc(modelStyles, func(r *regexp.Regexp) bool { return r.MatchString(word) })
}

func modelUnlisted(text string, listed []string) []string {
	count, firsts, all := map[int]int{}, map[string]int{}, 0
	for _, n := range listed {
		split := modelPart.FindAllString(n, -1)
		firsts[split[0]]++
		if len(split) >= 2 {
			all++
			count[modelStyle(n)]++
		}
	}
	found := map[string]bool{}
	for _, paragraph := range modelParagraphs(text) {
		joined := strings.Join(paragraph, "\n")
		for _, at := range modelUnlistedWord.FindAllStringIndex(joined, -1) {
			before, word, after := joined[:at[0]], joined[at[0]:at[1]], joined[at[1]:]
			// At most one line end stands between a name and its call.
			if i := strings.LastIndex(before, "\n"); i >= 0 {
				before = before[strings.LastIndex(before[:i], "\n")+1:]
			}
			if i := strings.Index(after, "\n"); i >= 0 {
				if j := strings.Index(after[i+1:], "\n"); j >= 0 {
					after = after[:i+1+j]
				}
			}
			split := modelPart.FindAllString(word, -1)
			switch style := modelStyle(word); {
			case modelNotAlone.MatchString(after), modelNotAloneLeft.MatchString(before):
			case len(word) < 5, len(word) > 128, len(split) < 2, strings.ToUpper(word) == word:
			case strings.ContainsFunc(word, func(r rune) bool { return r > unicode.MaxASCII }):
			case style < 0, 2*count[style] <= all, firsts[split[0]] < 2, slices.Contains(listed, word):
			case !modelBefore.MatchString(before) && !modelAfter.MatchString(after):
			default:
				last := modelWordLast.FindStringSubmatch(before)
				if last == nil || !slices.Contains(listed, last[1]) {
					found[word] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

var modelCatalogs = [][]string{
	{"get_page", "get_user", "list_pages", "list_users", "search", "use"},
	{"get-page", "get-user", "x_y"},
	{"getPage", "getUser", "search", "call"},
	{"GetPage", "GetUser", "getUser"},
}

func compareUnlisted(t *testing.T, text string) bool {
	for _, catalog := range modelCatalogs {
		want, got := modelUnlisted(text, catalog), unlistedOf(text, catalog...)
		if diff := cmp.Diff(want, slices.Compact(got)); diff != "" && len(want)+len(got) > 0 {
			t.Errorf("model and detector differ on %q beside %q:\n%s", text, catalog, diff)
			return false
		}
	}
	return true
}

func TestUnlistedLikeModel(t *testing.T) {
	t.Parallel()
	pieces := []string{"get_old", "get-old", "getOld", "GetOld", "get_page", "get", "old", "GET_OLD", "use", "Use", "call", "the", "The", "tool", "MCP", "mcp tool", " tool",
		"→", "->", "=>", "(", " ", " ", " ", "  ", "\t", "\n", "\n\n", "`", "*", "'", "“", "-", "--", "_", ".", ":", "/", "@", "é", "> ", "- ", "* ", "\nthe ", "x"}
	random := rand.New(rand.NewPCG(5, 6))
	for range 5000 {
		var text strings.Builder
		for range 1 + random.IntN(10) {
			text.WriteString(pieces[random.IntN(len(pieces))])
			if random.IntN(3) == 0 {
				text.WriteByte(' ')
			}
		}
		if !compareUnlisted(t, text.String()) {
			return
		}
	}
}

func FuzzUnlisted(f *testing.F) {
	for _, text := range []string{"Use the `get_old` tool.", "get-old -> x", "use\n> getOld", "search the\nget_old\nMCP tool", "use @get_old", "get_page get_old("} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) <= 2000 && strings.ToValidUTF8(text, "") == text {
			compareUnlisted(t, text)
		}
	})
}
