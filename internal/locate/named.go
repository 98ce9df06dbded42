package locate

import (
	"context"

	"github.com/org/mcpeval-guidance/internal/reference"
)

// firstReferences returns, for the wanted names, the first line, from 1, that
// holds it as inline code: outside fenced code where there is such a line. It
// takes one pass, however many names there are.
func firstReferences(ctx context.Context, text []byte, wanted map[string]bool) map[string]int {
	outside, inside := map[string]int{}, map[string]int{}
	reference.Lines(text, func(name string) bool { return wanted[name] }, func(line int, fenced bool, name string) bool {
		lines := outside
		if fenced {
			lines = inside
		}
		if _, seen := lines[name]; !seen {
			lines[name] = line
		}
		return ctx.Err() == nil
	})
	if ctx.Err() != nil {
		return nil
	}
	for name, line := range inside {
		if _, better := outside[name]; !better {
			outside[name] = line
		}
	}
	return outside
}
