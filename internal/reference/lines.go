package reference

import "strings"

// Lines finds the names of a file that stand as inline code and are wanted: on
// which line, from 1, and whether in fenced code. It stops when yield returns
// false. A name comes once for each place, in order of lines.
//
// A file is source as often as it is Markdown, so ticks may be escaped for
// the language around them: a backslash before a tick means nothing here.
// Ticks are paired within a line, since comments and quotes have no
// paragraphs. It takes linear time, however many names are wanted.
func Lines(text []byte, wanted func(name string) bool, yield func(line int, fenced bool, name string) bool) {
	var blocks blockReader
	all := string(text)
	for number := 1; all != ""; number++ {
		line, rest, _ := strings.Cut(all, "\n")
		all = rest
		line = withoutEscapes(strings.TrimSuffix(line, "\r"))
		wasFenced := blocks.fence != 0
		blocks.next(line)
		// A line that ends its fence without a mark of its own is text.
		fenced := wasFenced && blocks.fence != 0
		more := true
		found := func(start, end int) {
			if more && wanted(line[start:end]) {
				more = yield(number, fenced, line[start:end])
			}
		}
		plainCode(line, found)
		paddedCode(line, found)
		if !more {
			return
		}
	}
}

// withoutEscapes takes the backslashes before ticks away.
func withoutEscapes(line string) string {
	if !strings.Contains(line, "\\`") {
		return line
	}
	var out strings.Builder
	for line != "" {
		tick := strings.IndexByte(line, '`')
		if tick < 0 {
			break
		}
		out.WriteString(strings.TrimRight(line[:tick], `\`))
		out.WriteByte('`')
		line = line[tick+1:]
	}
	out.WriteString(line)
	return out.String()
}
