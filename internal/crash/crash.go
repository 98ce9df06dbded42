// Package crash keeps what is needed to mend a panic: our own functions and
// lines, and nothing else. A panic's value may hold a word of a server, so it
// is dropped.
package crash

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// Report is where to report what should never happen.
const Report = "https://github.com/org/mcpeval-guidance/issues"

// maxFrames is how many calls are kept: the innermost say the most.
const maxFrames = 8

const module = "github.com/org/mcpeval-guidance/"

// Crash is a panic that was recovered.
type Crash struct {
	Frames []string // our functions with file and line, innermost first
}

// Recovered turns what recover returned into a Crash; nil stays nil. It must be
// called by the deferred function itself. A Crash that a goroutine passed on
// stays as it is.
func Recovered(value any) *Crash {
	if value == nil {
		return nil
	}
	if earlier, ok := value.(*Crash); ok {
		return earlier
	}
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	c := &Crash{}
	for {
		frame, more := frames.Next()
		if name, ours := strings.CutPrefix(frame.Function, module); ours && len(c.Frames) < maxFrames {
			c.Frames = append(c.Frames, fmt.Sprintf("%s (%s:%d)", name, path.Base(frame.File), frame.Line))
		}
		if !more {
			return c
		}
	}
}

func (c *Crash) String() string {
	if len(c.Frames) == 0 {
		return "outside of our own functions"
	}
	return strings.Join(c.Frames, ", ")
}
