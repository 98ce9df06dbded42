package locate

import (
	"bytes"
	"context"
	"strings"
)

// firstReferences returns, for the wanted names, the first line, from 1, that
// holds it as inline code: outside fenced code where there is such a line. It
// takes one pass, however many names there are.
func firstReferences(ctx context.Context, text []byte, wanted map[string]bool) map[string]int {
	outside, inside := map[string]int{}, map[string]int{}
	fence := "" // the run that opened the fenced code we are in
	number := 0
	for line := range bytes.Lines(unescape(text)) {
		if number++; number%1024 == 0 && ctx.Err() != nil {
			return nil
		}
		trimmed := strings.TrimSpace(string(line))
		rest := strings.TrimLeft(trimmed, "`")
		if rest == trimmed {
			rest = strings.TrimLeft(trimmed, "~")
		}
		run := trimmed[:len(trimmed)-len(rest)]
		switch {
		case fence == "" && len(run) >= 3 && (run[0] == '~' || !strings.Contains(rest, "`")):
			fence = run
		case fence != "" && rest == "" && strings.HasPrefix(run, fence):
			fence = ""
		}
		lines := outside
		if fence != "" {
			lines = inside
		}
		for _, name := range codeSpans(string(line)) {
			if _, seen := lines[name]; !seen && wanted[name] {
				lines[name] = number
			}
		}
	}
	for name, line := range inside {
		if _, better := outside[name]; !better {
			outside[name] = line
		}
	}
	return outside
}

// codeSpans returns what stands between two neighbouring runs of ticks of one
// length. With a space on each side the first run must be one that opens: in
// `a` x `b` the x is no code.
func codeSpans(line string) (spans []string) {
	seen := map[int]int{} // runs so far, by length
	end, last := -1, 0    // of the run before
	for at := strings.IndexByte(line, '`'); at >= 0 && at < len(line); {
		length := len(line[at:]) - len(strings.TrimLeft(line[at:], "`"))
		if end >= 0 && length == last {
			span := line[end:at]
			if len(span) > 2 && span[0] == ' ' && span[len(span)-1] == ' ' {
				if span = span[1 : len(span)-1]; seen[length]%2 == 1 {
					spans = append(spans, span)
				}
			} else {
				spans = append(spans, span)
			}
		}
		seen[length]++
		end, last = at+length, length
		next := strings.IndexByte(line[end:], '`')
		if next < 0 {
			break
		}
		at = end + next
	}
	return spans
}

// unescape takes the backslash away from escaped quotes, ticks and
// backslashes, as most languages write them in string literals. Lines stay
// where they are.
func unescape(text []byte) []byte {
	if bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && isQuote(text[i+1]) {
			i++
		}
		out = append(out, text[i])
	}
	return out
}
