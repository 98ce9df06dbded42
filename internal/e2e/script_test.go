//go:build linux

package e2e

import (
	"errors"
	"flag"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptBehaviours are the servers of the transcripts.
var scriptBehaviours = map[string]behaviour{
	// leaves a file where it was started, which an invocation that is
	// refused must not do
	"marks": func(p *peer) {
		os.WriteFile("started", nil, 0o666)
		p.serve()
	},
	// lists summarize for clients that sample only, and names it to all
	"gated": func(p *peer) {
		p.hello = hello(`"capabilities":{"tools":{}},"instructions":"Call ` + "`search`, then `summarize`" + `. c4n4ry"`)
		p.page = func(string) string {
			if p.profile == "sampling" || p.profile == "all" {
				return catalog("search", "summarize", "-x")
			}
			return catalog("search", "-x")
		}
		p.serve()
	},
	// says on stderr what it was started with
	"arguments": func(p *peer) {
		for _, arg := range os.Args[2:] {
			os.Stderr.WriteString("argument <" + arg + ">\n")
		}
		p.serve()
	},
}

var update = flag.Bool("update", false, "write what the transcripts compare with anew")

// contacts is the key of a script's count of connections to its $URL.
type contacts struct{}

// TestScript runs the transcripts. Beside testscript's own commands they have
//
//	exits STATUS COMMAND...   the exact exit status of a command
//	refused REASON ARG...     mcpeval ARG... is refused: status 2, an empty
//	                          stdout, exactly REASON and where to read more
//	                          on stderr, no server started, $URL not contacted
//	environ NAME QUOTED [TIMES]
//	                          sets a variable to a Go string, repeated
//
// and $URL, where somebody listens.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                filepath.Join("..", "..", "testdata", "script"),
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			env.Defer(func() { listener.Close() })
			count := new(atomic.Int64)
			go func() {
				for {
					connection, err := listener.Accept()
					if err != nil {
						return
					}
					count.Add(1)
					connection.Close()
				}
			}()
			env.Values[contacts{}] = count
			env.Setenv("URL", "http://"+listener.Addr().String()+"/mcp")
			schemas, err := filepath.Abs(filepath.Join("..", "..", "schema"))
			env.Setenv("SCHEMA", filepath.Join(schemas, "guidance-report.v1.schema.json"))
			env.Setenv("SCHEMA2", filepath.Join(schemas, "guidance-report.v2.schema.json"))
			env.Setenv("GORACE", os.Getenv("GORACE"))
			return err
		},
		UpdateScripts: *update,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"refused": refused,
			"environ": environ,
		},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := statusOf(ts, args[1:]); got != want {
		ts.Fatalf("exit status %d, not %d; stderr: %s", got, want, ts.ReadFile("stderr"))
	}
}

func statusOf(ts *testscript.TestScript, command []string) int {
	err := ts.Exec(command[0], command[1:]...)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		ts.Fatalf("%v", err)
	}
	if exit == nil {
		return 0
	}
	return exit.ExitCode()
}

func refused(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: refused REASON ARG...")
	}
	if got := statusOf(ts, append([]string{"mcpeval"}, args[1:]...)); got != 2 {
		ts.Fatalf("exit status %d, not 2", got)
	}
	if stdout := ts.ReadFile("stdout"); stdout != "" {
		ts.Fatalf("stdout is not empty: %q", stdout)
	}
	want := "mcpeval: " + args[0] + "\nsee mcpeval guidance --help\n"
	if stderr := ts.ReadFile("stderr"); stderr != want {
		ts.Fatalf("stderr:\n%swant:\n%s", stderr, want)
	}
	if _, err := os.Stat(ts.MkAbs("started")); err == nil {
		ts.Fatalf("the server was started")
	}
	if n := ts.Value(contacts{}).(*atomic.Int64).Load(); n != 0 {
		ts.Fatalf("the URL was contacted")
	}
}

func environ(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: environ NAME QUOTED [TIMES]")
	}
	value, err := strconv.Unquote(args[1])
	ts.Check(err)
	if len(args) > 2 {
		times, err := strconv.Atoi(args[2])
		ts.Check(err)
		value = strings.Repeat(value, times)
	}
	ts.Setenv(args[0], value)
}
