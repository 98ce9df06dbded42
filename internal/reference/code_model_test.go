package reference

import (
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzReferences compares the detector with a model that is slow and was
// written from CONTRACT.md section 3.2 and CommonMark 0.31.2 alone.
func FuzzReferences(f *testing.F) {
	for _, c := range referenceCases {
		f.Add(c.text)
	}
	for _, text := range hostile(200) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) <= 2000 { // the model is quadratic
			compareWithModel(t, text)
		}
	})
}

// TestReferencesLikeModel does the same with texts made of the words that
// matter, which a fuzzer rarely puts together.
func TestReferencesLikeModel(t *testing.T) {
	t.Parallel()
	words := []string{"`", "`", "``", "```", "~~~", "`t`", "` t `", "a`", " t ", "t", "u", "x", " ", "  ", "\t", "\n", "\n", "\n\n", "\r\n", "\r",
		`\`, "> ", ">", "- ", "-", "* ", "1. ", "2) ", "# ", "===", "---", "***", "    "}
	random := rand.New(rand.NewPCG(1, 2))
	for range 8000 {
		var text strings.Builder
		for range 1 + random.IntN(24) {
			text.WriteString(words[random.IntN(len(words))])
		}
		if !compareWithModel(t, text.String()) {
			return
		}
	}
}

func compareWithModel(t *testing.T, text string) bool {
	names := []string{"t", "u", "a", everyCharacter}
	known := func(name string) bool { return slices.Contains(names, name) }
	got := map[string]bool{}
	for _, tool := range inCodeOf(text, names...) {
		if got[tool] {
			t.Errorf("%s comes twice", tool)
		}
		got[tool] = true
	}
	want := map[string]bool{}
	for _, paragraph := range modelParagraphs(text) {
		for _, line := range paragraph {
			for _, name := range names {
				if modelPlain(line, name) {
					want[name] = true
				}
			}
		}
		for _, span := range modelSpans(strings.Join(paragraph, "\n")) {
			if name, ok := strings.CutPrefix(span, " "); ok {
				if name, ok := strings.CutSuffix(name, " "); ok && known(name) {
					want[name] = true
				}
			}
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("model and detector differ on %q:\n%s", text, diff)
	}
	return !t.Failed()
}

// modelPlain tries every position: is the name there between two runs of
// ticks of the same length, the first not counting an escaped tick?
func modelPlain(line, name string) bool {
	for i := 0; i+len(name) <= len(line); i++ {
		if line[i:i+len(name)] != name {
			continue
		}
		before, after := line[:i], line[i+len(name):]
		left := len(before) - len(strings.TrimRight(before, "`"))
		right := len(after) - len(strings.TrimLeft(after, "`"))
		before = strings.TrimRight(before, "`")
		if left > 0 && (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1 {
			left--
		}
		if left > 0 && left == right {
			return true
		}
	}
	return false
}

// modelSpans returns the contents of the code spans of a paragraph, by the
// rules of CommonMark sections 2.4 and 6.1: read a character at a time.
func modelSpans(text string) []string {
	switch {
	case text == "":
		return nil
	case strings.HasPrefix(text, "\\`"), strings.HasPrefix(text, `\\`):
		return modelSpans(text[2:])
	case text[0] != '`':
		return modelSpans(text[1:])
	}
	rest := strings.TrimLeft(text, "`")
	ticks := text[:len(text)-len(rest)]
	for i := range rest {
		closes := strings.HasPrefix(rest[i:], ticks) && !strings.HasPrefix(rest[i:], ticks+"`") && !strings.HasSuffix(rest[:i], "`")
		if closes {
			return append([]string{rest[:i]}, modelSpans(rest[i+len(ticks):])...)
		}
	}
	return modelSpans(rest)
}

var (
	modelLineEnd  = regexp.MustCompile(`\r\n|\n|\r`)
	modelBlank    = regexp.MustCompile(`^[ \t]*$`)
	modelQuote    = regexp.MustCompile(`^[ \t]*>`)
	modelBullet   = regexp.MustCompile(`^[ \t]*[-+*]($|[ \t])`)
	modelNumber   = regexp.MustCompile(`^[ \t]*([0-9]{1,9})[.)]($|[ \t])`)
	modelFence    = regexp.MustCompile("^[ \t]*(`{3,}[^`]*$|~{3,})")
	modelHeading  = regexp.MustCompile(`^[ \t]*#{1,6}([ \t]|$)`)
	modelRule     = regexp.MustCompile(`^[ \t]*((\*[ \t]*){3,}|(-[ \t]*){3,}|(_[ \t]*){3,})$`)
	modelSetext   = regexp.MustCompile(`^[ \t]*(=+|-+)[ \t]*$`)
	modelInterior = regexp.MustCompile(`^[ \t]*`)
)

// modelParagraphs returns the lines of text of each paragraph and heading,
// without their marks, fenced code left out. Indentation means nothing. An
// underline and a rule always end a paragraph.
func modelParagraphs(text string) (paragraphs [][]string) {
	var current []string // the open paragraph; nil when there is none
	quotes, listed := 0, false
	finish := func() {
		if current != nil {
			paragraphs = append(paragraphs, current)
		}
		current = nil
	}
	all := modelLineEnd.Split(text, -1)
	for i := 0; i < len(all); i++ {
		line, depth, item := all[i], 0, false
		// Take the marks of quotes and list items off, in any order.
		for {
			if mark := modelQuote.FindString(line); mark != "" {
				line, depth = line[len(mark):], depth+1
				continue
			}
			interrupts := current != nil && !listed && !item && depth == quotes
			mark := modelBullet.FindString(line)
			if number := modelNumber.FindStringSubmatch(line); number != nil && (!interrupts || number[1] == "1") {
				mark = number[0]
			}
			if mark == "" || modelRule.MatchString(line) || modelSetext.MatchString(line) || interrupts && modelBlank.MatchString(line[len(mark):]) {
				break
			}
			line, item = line[len(mark):], true
		}
		line = modelInterior.ReplaceAllString(line, "")
		switch {
		case modelBlank.MatchString(line), modelRule.MatchString(line), modelSetext.MatchString(line):
			finish()
		case modelFence.MatchString(line):
			finish()
			i = modelFenceEnd(all, i, depth, line)
		case modelHeading.MatchString(line):
			finish()
			current = []string{line}
			finish()
		case current == nil, item, depth > quotes:
			finish()
			current, quotes, listed = []string{line}, depth, item
		default:
			current = append(current, line)
		}
	}
	finish()
	return paragraphs
}

// modelFenceEnd returns the last line of the fence that line i opens.
func modelFenceEnd(lines []string, i, depth int, opening string) int {
	length := len(opening) - len(strings.TrimLeft(opening, opening[:1]))
	closing := regexp.MustCompile(`^[ \t]*` + opening[:1] + `{` + "3,}[ \t]*$")
	for i++; i < len(lines); i++ {
		line := lines[i]
		for range depth {
			mark := modelQuote.FindString(line)
			if mark == "" {
				return i - 1 // the fence ends with its quote
			}
			line = line[len(mark):]
		}
		if closing.MatchString(line) && strings.Count(line, opening[:1]) >= length {
			return i
		}
	}
	return i
}
