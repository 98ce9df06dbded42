package reference

import (
	"fmt"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, want string
	}{
		{"none", "t and u", ""},
		{"a line ends in LF or CRLF", "x\r\n`t`\r\n\n`u`", "2 t, 4 u"},
		{"every place", "`t` `u` `t`\n`t`", "1 t, 1 u, 1 t, 2 t"},
		{"padded", "a ` t `", "1 t"},
		{"between two spans is no code", "`a` t `b`", ""},
		{"a stray tick", "It`s `t`", "1 t"},
		{"escaped for the language around it", "x = `use \\`t\\` and \\\\`u\\\\` `", "1 t, 1 u"},
		{"a docstring's fence", "    ```\n    `t`\n    ```\n    `u`", "2 t fenced, 4 u"},
		{"an escaped fence", "\\`\\`\\`\n`t`\n\\`\\`\\`\n`u`", "2 t fenced, 4 u"},
		{"a fence that ends with its quote", "> ```\n> `t`\n`u`", "2 t fenced, 3 u"},
		{"other names", "`x` `T` `tt`", ""},
	} {
		var got []string
		Lines([]byte(c.text), func(name string) bool { return name == "t" || name == "u" }, func(line int, fenced bool, name string) bool {
			place := fmt.Sprint(line, " ", name)
			if fenced {
				place += " fenced"
			}
			got = append(got, place)
			return true
		})
		if got := strings.Join(got, ", "); got != c.want {
			t.Errorf("%s: %q, not %q", c.name, got, c.want)
		}
	}
}

// Each byte is asked for at most twice, whatever stands on a line (case 42).
func TestLinesIsLinear(t *testing.T) {
	t.Parallel()
	texts := hostile(1 << 18)
	texts["case 42"] = strings.Repeat("`a` x ", 1<<20/6)
	for name, text := range texts {
		asked := 0
		Lines([]byte(text), func(name string) bool { asked += len(name); return false }, nil)
		if asked > 2*len(text) {
			t.Errorf("%s: %d bytes of names in a text of %d", name, asked, len(text))
		}
	}
}
