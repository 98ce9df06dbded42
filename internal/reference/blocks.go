package reference

import "strings"

// lineKind is what a line means for the paragraph before it.
type lineKind int

const (
	noText lineKind = iota // no text that could hold a reference: blank, a rule, or fenced code
	begins                 // its text begins a paragraph
	goesOn                 // its text continues the paragraph
)

// blockReader tells paragraphs and fenced code apart, line by line, as far as
// references need it: CommonMark's blocks without indentation, since
// instructions are often indented docstrings (CONTRACT.md section 3.2).
type blockReader struct {
	fence    byte // '`' or '~' inside fenced code, else 0
	fenceLen int
	quote    int  // how deep in block quotes the paragraph or the fence stands
	inText   bool // a paragraph may go on
	inList   bool // that paragraph belongs to a list item
}

// next judges a line. Its text begins after skip bytes.
func (b *blockReader) next(line string) (skip int, kind lineKind) {
	if b.fence != 0 {
		content, ends := unquote(line, b.quote)
		if ends < b.quote {
			b.fence = 0 // the fence ends with its block quote
		} else {
			if closesFence(content, b.fence, b.fenceLen) {
				b.fence = 0
			}
			b.inText = false
			return 0, noText
		}
	}
	text, quote := unquote(line, len(line))
	tail, item := ruleTail(text), false
	isBorder := func() bool { return text == "" || len(text) <= tail && isRule(text) }
	for !isBorder() {
		rest, ok := itemContent(text, b.inText && !b.inList && !item && quote == b.quote)
		if !ok {
			break
		}
		inner, quotes := unquote(rest, len(rest))
		text, quote, item = inner, quote+quotes, true
	}
	if isBorder() {
		b.inText = false
		return 0, noText
	}
	if char, length := opensFence(text); char != 0 {
		*b = blockReader{fence: char, fenceLen: length, quote: quote}
		return 0, noText
	}
	kind = goesOn
	heading := isHeading(text)
	// A line with fewer marks of a quote goes on lazily (CommonMark 5.1).
	if !b.inText || item || heading || quote > b.quote {
		kind = begins
		b.inList, b.quote = item, quote
	}
	b.inText = !heading
	return len(line) - len(text), kind
}

const blanks = " \t"

// unquote trims blanks and up to most block quote marks from the left, and
// says how many marks there were.
func unquote(line string, most int) (text string, quotes int) {
	text = strings.TrimLeft(line, blanks)
	for quotes < most && strings.HasPrefix(text, ">") {
		text = strings.TrimLeft(text[1:], blanks)
		quotes++
	}
	return text, quotes
}

// opensFence returns the fence's character and length, or 0. A backtick fence
// has no backtick in its info string (CommonMark 4.5).
func opensFence(text string) (char byte, length int) {
	for _, c := range []byte("`~") {
		length = leading(text, c)
		if length >= 3 && (c == '~' || strings.IndexByte(text[length:], '`') < 0) {
			return c, length
		}
	}
	return 0, 0
}

func closesFence(text string, char byte, length int) bool {
	n := leading(text, char)
	return n >= length && strings.Trim(text[n:], blanks) == ""
}

func leading(text string, char byte) (n int) {
	for n < len(text) && text[n] == char {
		n++
	}
	return n
}

// isHeading recognises an ATX heading, a block of one line (CommonMark 4.2).
func isHeading(text string) bool {
	n := leading(text, '#')
	return n >= 1 && n <= 6 && (n == len(text) || text[n] == ' ' || text[n] == '\t')
}

// isRule recognises thematic breaks and setext underlines: both end a
// paragraph and hold no text (CommonMark 4.1 and 4.3).
func isRule(text string) bool {
	if n := strings.Trim(text, blanks); strings.Trim(n, "=") == "" || strings.Trim(n, "-") == "" {
		return true
	}
	for _, c := range []string{"-", "*", "_"} {
		if strings.Trim(text, c+blanks) == "" && strings.Count(text, c) >= 3 {
			return true
		}
	}
	return false
}

// ruleTail returns the length of the line's end that is made of one mark and
// blanks: only a text within it can be a rule. It is found once a line, since
// a hostile line has millions of list marks, each with a text after it.
func ruleTail(line string) int {
	mark := byte(0)
	for i := len(line) - 1; i >= 0; i-- {
		switch c := line[i]; {
		case c == ' ' || c == '\t' || c == mark:
		case mark == 0 && strings.IndexByte("=-*_", c) >= 0:
			mark = c
		default:
			return len(line) - i - 1
		}
	}
	return len(line)
}

// itemContent returns what follows a list item's mark (CommonMark 5.2). What
// may interrupt a paragraph that is not a list's is narrower: no empty item,
// and no number but 1. That holds within one block quote: CommonMark's own
// parsers let any item end the paragraph of a quote that a line has left.
func itemContent(text string, interrupts bool) (content string, ok bool) {
	n := 0
	switch c := text[0]; {
	case c == '-' || c == '*' || c == '+':
		n = 1
	case c >= '0' && c <= '9':
		for n < len(text) && text[n] >= '0' && text[n] <= '9' {
			n++
		}
		if n > 9 || n == len(text) || (text[n] != '.' && text[n] != ')') || interrupts && text[:n] != "1" {
			return "", false
		}
		n++
	default:
		return "", false
	}
	if n < len(text) && text[n] != ' ' && text[n] != '\t' {
		return "", false
	}
	content = strings.TrimLeft(text[n:], blanks)
	return content, content != "" || !interrupts
}
