package action

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// operators are those of sh and bash that stand between words, the
	// redirections without a file among them.
	operators  = regexp.MustCompile(`^(&&|\|\|?|\|&|;;?|&|\(|\)|[0-9]*(>>?|>\||<>|<<?<?|<<-|>&[0-9-]*|<&[0-9-]*)|&>>?)$`)
	assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\+?=`)
)

// shellText says what in the words only a shell would do, and what to write
// instead; empty where there is nothing of the kind. Its text is well quoted.
func shellText(text string) string {
	words, expands := sourceWords(text)
	if len(words) == 0 {
		return ""
	}
	switch {
	case words[0] == "cd":
		return "begins with cd, which only a shell has: give the folder as working-directory, and here only the program with its arguments"
	case assignment.MatchString(words[0]):
		return "begins with NAME=value, which only a shell reads: set the variable under env: of the step, and begin with the program"
	}
	if i := slices.IndexFunc(words, operators.MatchString); i >= 0 {
		return "has " + words[i] + " as a word of its own, which only a shell reads: write one program with its arguments, and do the rest in a step before; " +
			"or ask for a shell, as in sh -c '...'; or put the word in quotes where the program shall get it"
	}
	if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "~/") }) {
		return "has a word that begins with ~/, which only a shell replaces: write the whole path"
	}
	if expands {
		return "has a $ that only a shell would replace: write the value itself, or ${{ ... }} for what the workflow knows; put it in single quotes where the program shall get the $"
	}
	return ""
}

// sourceWords splits as a shell does but keeps quotes and backslashes, so that
// a quoted operator is none. It reports whether a shell would replace a $ in
// any of them.
func sourceWords(text string) (words []string, expands bool) {
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	var quote byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && quote != '\'' && i+1 < len(text):
			i++
			if text[i] != '\n' { // a line that goes on
				word.WriteByte(c)
				word.WriteByte(text[i])
			}
			continue
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			flush()
			continue
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote:
			quote = 0
		case c == '$' && quote != '\'' && i+1 < len(text):
			expands = expands || expandable(text[i+1], quote)
		}
		word.WriteByte(c)
	}
	flush()
	return words, expands
}

// expandable reports whether a shell replaces a $ before c: a name, a number,
// a special parameter, ${ and $( do, and bash's $'...' outside quotes.
func expandable(c, quote byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		return true
	case c == '\'' || c == '"':
		return quote == 0
	}
	return strings.IndexByte("_{(@*#?-$!", c) >= 0
}
