package reference

import "strings"

// Lines finds the places of a file that name the tool as inline code, in
// order: the line, from 1; whether it stands in fenced code; and where the
// name begins in the text. It stops when yield returns false. A name comes
// once for each place.
//
// A file is source as often as it is Markdown, so ticks may be escaped for
// the language around them: a backslash before a tick means nothing here.
// Ticks are paired within a line, since comments and quotes have no
// paragraphs. It takes linear time.
func Lines(text []byte, tool string, yield func(line int, fenced bool, at int) bool) {
	if tool == "" {
		return
	}
	all := string(text)
	var blocks blockReader
	number := 0
	for start := 0; start < len(all); {
		number++
		end, next := len(all), len(all)
		if length := strings.IndexByte(all[start:], '\n'); length >= 0 {
			end, next = start+length, start+length+1
		}
		line := strings.TrimSuffix(all[start:end], "\r")
		plain, _ := withoutEscapes(line)
		wasFenced := blocks.fence != 0
		blocks.next(plain)
		// A line that ends its fence without a mark of its own is text.
		fenced := wasFenced && blocks.fence != 0
		if strings.Contains(line, tool) {
			for _, at := range codeIn(line, tool) {
				if !yield(number, fenced, start+at) {
					return
				}
			}
		}
		start = next
	}
}

// codeIn returns where the line holds the tool's name between runs of one
// length, with or without a space on each side.
func codeIn(line, tool string) (at []int) {
	plain, offsets := withoutEscapes(line)
	add := func(start, end int) {
		if plain[start:end] != tool {
			return
		}
		if offsets != nil {
			start = offsets[start]
		}
		at = append(at, start)
	}
	plainCode(plain, add)
	unpadded := len(at)
	paddedCode(plain, add)
	if unpadded == 0 || unpadded == len(at) {
		return at
	}
	return merged(at[:unpadded], at[unpadded:])
}

// withoutEscapes takes the backslashes before ticks away. It also returns where
// each byte of its result stood, nil where nothing was taken away.
func withoutEscapes(line string) (plain string, offsets []int) {
	if !strings.Contains(line, "\\`") {
		return line, nil
	}
	var out strings.Builder
	for i := 0; i < len(line); i++ {
		from := i
		for i < len(line) && line[i] == '\\' {
			i++
		}
		if i == len(line) || line[i] != '`' { // no escapes: they stay
			for ; from < i; from++ {
				out.WriteByte('\\')
				offsets = append(offsets, from)
			}
		}
		if i < len(line) {
			out.WriteByte(line[i])
			offsets = append(offsets, i)
		}
	}
	return out.String(), offsets
}

// merged joins two ascending lists that have no value in common.
func merged(a, b []int) []int {
	out := make([]int, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0] < b[0] {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}
