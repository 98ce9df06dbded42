package reference

import (
	"strings"
	"unicode/utf8"
)

// parts splits a word at _, - and before an inner capital.
func parts(word string) (list []string) {
	start := 0
	for i := 0; i <= len(word); i++ {
		switch {
		case i == len(word), word[i] == '_', word[i] == '-':
			if i > start {
				list = append(list, word[start:i])
			}
			start = i + 1
		case i > start && word[i] >= 'A' && word[i] <= 'Z':
			list = append(list, word[start:i])
			start = i
		}
	}
	return list
}

// firstPart is the word up to its first _, - or inner capital.
func firstPart(word string) string {
	for i := 1; i < len(word); i++ {
		if c := word[i]; c == '_' || c == '-' || c >= 'A' && c <= 'Z' {
			return word[:i]
		}
	}
	return word
}

// callable reports whether a word may be the name of a tool that no session
// lists, by its own look (CONTRACT.md section 3.4, rule 1).
func callable(word string) bool {
	return len(word) >= minUnmistakable && strings.ToUpper(word) != word && len(parts(word)) >= 2
}

// callWords stand directly before a name that a text calls for (rule 5).
var callWords = map[string]bool{
	"use": true, "using": true, "call": true, "calling": true, "calls": true,
	"run": true, "invoke": true, "via": true, "try": true, "execute": true,
}

var arrows = []string{"→", "->", "=>"}

// quotes are what may stand around a name, beside blanks.
const quotes = "`\"'*" + "‘’‚“”„«»‹›"

// callable takes a word that the text calls for as a tool. The lines around
// its own belong to its paragraph.
func (b *builder) callable(text string, p piece, before, line, after span) {
	s := text[p.start:p.end]
	if p.start > line.start && text[p.start-1] == '@' || p.end < line.end && text[p.end] == '@' {
		return
	}
	lead := text[line.start:p.start]
	said := trimLead(lead)
	if said == "" && before != noSpan {
		said = trimLead(text[before.start:before.end])
	}
	word := lastWord(said)
	if !calledBefore(said, before, text, line) && !calledAfter(text[p.end:line.end], after, text) {
		return
	}
	hash := uint64(0)
	if word != "" {
		hash = hashOf(word)
	}
	b.calledFor(s, p.hash, hash, p.start)
}

// trimLead cuts blanks, ticks, quotes and stars off the end.
func trimLead(s string) string { return strings.TrimRight(s, blanks+quotes) }

// calledBefore judges what stands before a word, quotes and blanks aside.
func calledBefore(said string, before span, text string, line span) bool {
	if word := lastWord(said); strings.EqualFold(word, "the") {
		said = trimLead(said[:len(said)-len(word)])
		if said == "" && before != noSpan {
			said = trimLead(text[before.start:before.end])
		}
	}
	for _, arrow := range arrows {
		if strings.HasSuffix(said, arrow) {
			return true
		}
	}
	word := lastWord(said)
	return len(word) <= len("executes") && callWords[strings.ToLower(word)]
}

// lastWord returns the word that ends the text, of the characters of a name; a
// joiner at its end ends no word.
func lastWord(s string) string {
	if r, _ := utf8.DecodeLastRuneInString(s); !isLetter(r) && r != '_' {
		return ""
	}
	i := len(s)
	for i > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		if !isLetter(r) && !strings.ContainsRune("_-.:", r) {
			break
		}
		i -= size
	}
	return s[i:]
}

// calledAfter judges what stands after a word.
func calledAfter(rest string, after span, text string) bool {
	rest = strings.TrimLeft(rest, quotes)
	if strings.HasPrefix(rest, "(") {
		return true
	}
	for _, arrow := range arrows {
		if strings.HasPrefix(rest, arrow) {
			return true
		}
	}
	// passed cuts blanks and at most one line end, of which there must be some.
	passed := func() bool {
		trimmed := strings.TrimLeft(rest, blanks)
		some := len(trimmed) < len(rest)
		if rest = trimmed; rest == "" && after != noSpan {
			rest, some = strings.TrimLeft(text[after.start:after.end], blanks), true
			after = noSpan
		}
		return some
	}
	if !passed() {
		return false
	}
	if tail, ok := cutWord(rest, "mcp"); ok {
		if rest = tail; !passed() {
			return false
		}
	}
	_, ok := cutWord(rest, "tool")
	return ok
}

// cutWord cuts a word, in any case, off the beginning.
func cutWord(s, word string) (rest string, ok bool) {
	if len(s) < len(word) || !strings.EqualFold(s[:len(word)], word) {
		return s, false
	}
	if r, _ := utf8.DecodeRuneInString(s[len(word):]); len(s) > len(word) && (isLetter(r) || r == '_') {
		return s, false
	}
	return s[len(word):], true
}
