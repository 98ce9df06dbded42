package options

import (
	"slices"
	"strings"
)

// owned are the headers that the protocol or HTTP sets (CONTRACT.md section
// 9); those that begin with Mcp- are the protocol's too.
var owned = []string{"Accept", "Content-Type", "Host", "Content-Length", "Connection", "Transfer-Encoding"}

// headerProblem says what is wrong with a header, without a word of it that is
// not ours; empty where nothing is.
func headerProblem(name, value string) string {
	if !isToken(name) {
		return "a header's name must be letters, digits and - with no blank, as in X-Api-Key: value"
	}
	for _, ours := range owned {
		if strings.EqualFold(name, ours) {
			return ours + " is set by the check itself: leave it out"
		}
	}
	if len(name) >= 4 && strings.EqualFold(name[:4], "Mcp-") {
		return "headers that begin with Mcp- are set by the check itself: leave them out"
	}
	return valueProblem(value)
}

// isToken is RFC 9110, section 5.6.2.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return false
		}
		return !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

func valueProblem(value string) string {
	switch {
	case len(value) == 0 || len(value) > MaxHeaderBytes:
		return "a header's value must have 1 to 8192 bytes"
	case hasControl(value):
		return "a header's value must not have control characters, such as a line break"
	}
	return ""
}

func hasControl(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] == 0x7f {
			return true
		}
	}
	return false
}

// headerLines reads lines "Name: value", as MCPEVAL_HTTP_HEADERS has them.
func headerLines(text string) ([]Header, *Error) {
	var list []Header
	for i, line := range strings.Split(text, "\n") {
		line = strings.Trim(line, " \t\r")
		if line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		value = strings.Trim(value, " \t")
		problem := headerProblem(name, value)
		switch {
		case !ok:
			problem = "must be a header, as in X-Api-Key: value"
		case problem == "" && holds(list, name):
			problem = "this header is there twice"
		}
		if problem != "" {
			return nil, invalid("http-headers", "line %d: %s", i+1, problem)
		}
		list = append(list, Header{name, NewSecret(value)})
	}
	if len(list) > MaxHeaders {
		return nil, invalid("http-headers", "more than %d headers", MaxHeaders)
	}
	return list, nil
}

// givenHeaders are those that every request gets, whatever a file says:
// Authorization has a variable of its own, which wins.
func givenHeaders(raw Raw) ([]Header, *Error) {
	var list []Header
	if raw.Headers != nil {
		var err *Error
		if list, err = headerLines(*raw.Headers); err != nil {
			return nil, err
		}
	}
	if raw.Authorization == nil {
		return list, nil
	}
	value := *raw.Authorization
	if len(value) == 0 || len(value) > MaxHeaderBytes {
		return nil, invalid("http-authorization", "must have 1 to %d bytes; unset it for a server without authorization", MaxHeaderBytes)
	}
	if hasControl(value) {
		return nil, invalid("http-authorization", "must not have control characters, such as a line break at its end")
	}
	return merge(list, []Header{{"Authorization", NewSecret(value)}}), nil
}

// merge returns both lists, without what stronger has by the same name.
func merge(list, stronger []Header) []Header {
	kept := slices.DeleteFunc(slices.Clone(list), func(h Header) bool { return holds(stronger, h.Name) })
	return append(kept, stronger...)
}

func holds(list []Header, name string) bool {
	return slices.ContainsFunc(list, func(h Header) bool { return strings.EqualFold(h.Name, name) })
}
