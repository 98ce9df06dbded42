//go:build linux

package e2e

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestActionServer: a server gets exactly the words and the folder that the
// inputs say, and nothing of the runner's.
func TestActionServer(t *testing.T) {
	t.Parallel()
	s := newStep(t, "server-command", "mcp-server keeps '$HOME' ';' 'a  b' \\\n  \"* ? ~\" `id` #x\n\n  --flag=\"\" \\\n",
		"profiles", "none", "working-directory", "sub/folder", "http-authorization", "c4n4ry-authorization", "report-path", "out/r.json")
	s.env = []string{
		"MCPEVAL_HTTP_AUTHORIZATION=c4n4ry-variable", "ACTIONS_CACHE_URL=c4n4ry", "ACTIONS_=c4n4ry", "INPUT_=c4n4ry",
		"GITHUB_SHA=kept", "RUNNER_TEMP=kept", "MY_SECRET=kept",
	}
	s.put(filepath.Join(s.workspace, "sub/folder/x"), "")
	// The mask has a canary by purpose: the log is read by hand here.
	r := s.start().wait()
	if want := "::add-mask::c4n4ry-authorization\n"; r.exit != 0 || !strings.HasPrefix(r.stdout, want) || strings.Count(strings.ToLower(r.stdout), canary) != 1 {
		t.Errorf("exit status %d, log:\n%s", r.exit, r.stdout)
	}
	want := []string{"$HOME", ";", "a  b", "* ? ~", "`id`", "#x", "--flag=", ""}
	if diff := cmp.Diff(want, strings.Split(r.recorded("arguments"), "\x00")); diff != "" {
		t.Errorf("the server's words:\n%s", diff)
	}
	if got, _ := filepath.EvalSymlinks(strings.TrimSpace(r.recorded("folder"))); got != mustEval(t, filepath.Join(s.workspace, "sub/folder")) {
		t.Errorf("the server runs in %s", got)
	}
	kept := 0
	for entry := range strings.SplitSeq(strings.TrimSuffix(r.recorded("environment"), "\x00"), "\x00") {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case strings.HasPrefix(name, "INPUT_"), strings.HasPrefix(name, "ACTIONS_"), name == "MCPEVAL_HTTP_AUTHORIZATION",
			slices.Contains([]string{"GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"}, name),
			strings.Contains(value, canary), strings.Contains(value, s.files):
			t.Errorf("the server gets %s", entry)
		case value == "kept":
			kept++
		}
	}
	if kept != 3 {
		t.Errorf("the server gets %d of three other variables", kept)
	}
	if read(filepath.Join(s.workspace, "out/r.json")) == "" || !strings.Contains(read(s.file("output")), "\nreport=out/r.json\n") {
		t.Errorf("no report where it should be; outputs: %s", read(s.file("output")))
	}
}

func mustEval(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestActionOddServers: nothing that a server says becomes a command, an
// output or Markdown (case 20). newStep's result looks at the whole log.
func TestActionOddServers(t *testing.T) {
	t.Parallel()
	for name, exit := range map[string]int{"odd-names": 1, "odd-error": 3, "odd-version": 3, "odd-entry": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStep(t, "server", "::error::x", "server-command", "mcp-server "+name+" ::error::x ##[error]y",
				"require-tools", strings.Join(oddNames, "\n"), "acknowledge", oddNames[0]+" ::stale::", "profiles", "none sampling elicitation")
			r := s.run()
			r.ends(t, exit)
			if len(r.lines) < 10 || len(r.summary) < 200 {
				t.Errorf("too little is said: %s", r.stdout)
			}
			if name != "odd-names" {
				return
			}
			// Two of three profiles lack all, three lines of each connection are noise.
			if r.outputs["candidates"] != "14" || r.outputs["defects"] != "14" || !strings.Contains(r.stdout, "9 lines on stdout were no MCP messages") {
				t.Errorf("outputs %v, log:\n%s", r.outputs, r.stdout)
			}
			if n := []int{len(r.annotations("error")), len(r.annotations("warning")), len(r.annotations("notice"))}; !slices.Equal(n, []int{7, 6, 1}) {
				t.Errorf("errors, warnings, notices: %d", n)
			}
			for _, tool := range oddNames {
				if !strings.Contains(r.summary, "| – | ✓ | – | `"+tool+"` |") {
					t.Errorf("the summary lacks `%s`", tool)
				}
			}
		})
	}
}

// TestActionPlantedGit: what a server leaves on the PATH is not run, not to
// look for a candidate's line either.
func TestActionPlantedGit(t *testing.T) {
	t.Parallel()
	s := newStep(t)
	s.set("server-command", "mcp-server plants-git "+s.file("env"))
	s.env = []string{"PATH=" + s.scratch + ":" + os.Getenv("PATH")}
	r := s.run()
	r.ends(t, 0)
	if r.outputs["candidates"] != "1" {
		t.Errorf("outputs: %v", r.outputs)
	}
	if read(filepath.Join(s.scratch, "git")) == "" {
		t.Error("nothing was planted")
	}
	// git would be started without the variable that names the run's folder.
	if r.recorded("scribbled")+read(filepath.Join(s.workspace, "scribbled")) != "" {
		t.Error("what was planted was run")
	}
}

// TestActionStartCommand: a server that is started for its URL.
func TestActionStartCommand(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		way  string
		exit int
		said string
	}{
		{"good", 0, ""},
		{"stubborn", 0, ""},     // its group ignores signals, and a daemon has left it
		{"starting-503", 0, ""}, // 27
		{"starting-502", 0, ""}, // 27
		{"starting-504", 0, ""}, // 27
		{"starting-404", 0, ""}, // 27
		{"starting-0", 0, ""},   // 27
		{"broken", 3, "start-timeout (HTTP status 503) at start: "},
		{"never", 3, "start-timeout at start: "},
		{"exits", 3, "start-failed (exit status 0) at start: "},
		{"none", 3, "start-failed (not found) at start: "},
		{"taken", 3, "port-taken at start: "},
	} {
		t.Run(row.way, func(t *testing.T) {
			t.Parallel()
			address := unused(t)
			s := newStep(t, "url", "http://"+address+"/c4n4ry", "start-command", "mcp-server serves "+address+" "+row.way, "http-authorization", "Bearer secret-value")
			switch row.way {
			case "never", "broken":
				s.set("timeout-ms", "1000")
			case "none":
				s.set("start-command", "/no/such/command")
			case "taken":
				listener, err := net.Listen("tcp", address)
				if err != nil {
					t.Fatal(err)
				}
				defer listener.Close()
			}
			r := s.run()
			r.ends(t, row.exit)
			if connection, err := net.Dial("tcp", address); err == nil && row.way != "taken" {
				connection.Close()
				t.Error("the server still listens")
			}
			if strings.Contains(r.recorded("environment"), "secret-value") || strings.Contains(r.recorded("environment"), s.files) {
				t.Error("the start-command gets what it should not")
			}
			if started := r.recorded("arguments") != ""; started != (row.way != "none" && row.way != "taken") {
				t.Errorf("started: %t", started)
			}
			if row.exit == 0 {
				if r.outputs["candidates"] != "1" || !strings.Contains(r.report, `"tool": "summarize"`) {
					t.Errorf("outputs %v, report %s", r.outputs, r.report)
				}
				if sent := strings.Trim(strings.ReplaceAll(r.recorded("authorization"), "Bearer secret-value\n", "."), "."); sent != "" {
					t.Errorf("Authorization: %q", r.recorded("authorization"))
				}
				return
			}
			errors := r.annotations("error")
			if len(errors) != 1 || !strings.HasPrefix(errors[0].message, "Incomplete in profile none, sampling: "+row.said) {
				t.Errorf("errors: %+v", errors)
			}
			if !strings.Contains(r.summary, row.said[:strings.Index(row.said, " ")]) || r.outputs["complete"] != "false" {
				t.Errorf("outputs %v, summary:\n%s", r.outputs, r.summary)
			}
		})
	}
}

// TestActionLocalhost: in the container localhost is not the runner (case 21).
func TestActionLocalhost(t *testing.T) {
	t.Parallel()
	const port = "1" // of the system, and never given away
	for onRunner, want := range map[string]bool{"": true, "1": false} {
		s := newStep(t, "url", "http://localhost:"+port+"/c4n4ry", "profiles", "none")
		s.env = []string{"MCPEVAL_ON_RUNNER=" + onRunner}
		r := s.run()
		r.ends(t, 3)
		for name, text := range map[string]string{"annotation": fmt.Sprint(r.annotations("error")), "summary": r.summary, "log": strings.Join(r.lines, "\n")} {
			if got := strings.Contains(text, "localhost is the container itself and not the runner: start the server with start-command"); got != want || !strings.Contains(text, "connection-refused") {
				t.Errorf("on the runner %q: the %s is %s", onRunner, name, text)
			}
		}
	}
}

// TestActionInterrupted: outputs and a summary, no report, nothing left.
func TestActionInterrupted(t *testing.T) {
	t.Parallel()
	address := unused(t)
	for _, row := range []struct {
		name   string
		stage  string
		signal syscall.Signal
		inputs []string
	}{
		{"listing", listing, syscall.SIGTERM, []string{"server-command", "mcp-server clings ignores-everything " + listing, "profiles", "none"}},
		{"SIGINT", initialize, syscall.SIGINT, []string{"server-command", "mcp-server clings leaves-a-daemon " + initialize, "profiles", "all"}},
		{"starting", "started", syscall.SIGTERM, []string{"url", "http://" + address, "start-command", "mcp-server serves " + address + " never"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newStep(t, row.inputs...)
			stages := newStages(t, s.scratch)
			running := s.start()
			stages.await(row.stage)
			running.cmd.Process.Signal(row.signal)
			r := s.result(running.wait())
			exit := 128 + int(row.signal)
			r.ends(t, exit)
			want := map[string]string{"passed": "null", "complete": "false", "exit-code": fmt.Sprint(exit), "candidates": "0", "defects": "0", "report": "", "sarif": ""}
			if diff := cmp.Diff(want, r.outputs); diff != "" {
				t.Errorf("outputs:\n%s", diff)
			}
			if !strings.HasPrefix(r.summary, "## ⚠️ MCP guidance: interrupted") || r.report != "" {
				t.Errorf("summary %s, report %q", r.summary, r.report)
			}
		})
	}
}

// TestActionConfig: the file's entry is the target, in the working folder.
func TestActionConfig(t *testing.T) {
	t.Parallel()
	s := newStep(t, "config", "conf/.mcp.json", "server", "mine", "working-directory", "sub")
	s.put(filepath.Join(s.workspace, "conf/.mcp.json"), `{"mcpServers":{
		"mine":{"command":"mcp-server","args":["keeps","a b"],"env":{"OWN":"kept"}},
		"other":{"command":"c4n4ry"}}}`)
	s.put(filepath.Join(s.workspace, "sub/x"), "")
	r := s.run()
	r.ends(t, 0)
	if !strings.HasPrefix(r.recorded("arguments"), "a b\x00") || !strings.Contains(r.recorded("environment"), "\x00OWN=kept\x00") || !strings.Contains(r.recorded("folder"), "/sub\n") {
		t.Errorf("arguments %q, folder %q", r.recorded("arguments"), r.recorded("folder"))
	}
	for _, server := range []string{"nobody", ""} {
		s := newStep(t, "config", ".mcp.json", "server", server) // the default is the repository's name
		s.put(filepath.Join(s.workspace, ".mcp.json"), `{"mcpServers":{"mine":{"command":"c4n4ry"},"other":{"command":"c4n4ry"}}}`)
		r := s.run()
		r.ends(t, 2)
	}
}

// TestActionResultsThatCannotBeWritten: each is an error and exit status 3,
// and takes nothing else with it.
func TestActionResultsThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	const word = "The step's outputs could not be written: the file that GITHUB_OUTPUT names "
	for _, row := range []struct {
		name             string
		break_           func(*step)
		exit             int
		said             string
		outputs, summary bool
	}{
		{"no outputs file", func(s *step) { os.Remove(s.file("output")) }, 3, word, false, true},
		{"outputs file is a folder", func(s *step) { os.Remove(s.file("output")); os.Mkdir(s.file("output"), 0o777) }, 3, word, false, true},
		{"outputs file cannot be written", func(s *step) { s.env = append(s.env, "GITHUB_OUTPUT=/proc/version") }, 3, word, false, true},
		{"outputs unset", func(s *step) { s.env = append(s.env, "GITHUB_OUTPUT=") }, 0, "", false, true},
		{"no summary file", func(s *step) { os.Remove(s.file("summary")) }, 3, "The job summary could not be written: ", true, false},
		{"summary unset", func(s *step) { s.env = append(s.env, "GITHUB_STEP_SUMMARY=") }, 0, "", true, false},
		{"no folder for the report", func(s *step) {
			s.set("server-command", "mcp-server blocks "+filepath.Join(s.workspace, "mcpeval-guidance.json"))
		}, 3, "The JSON report could not be written", true, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newStep(t, "server-command", "mcp-server gated")
			row.break_(s)
			r := s.run()
			r.ends(t, row.exit)
			if errors := r.annotations("error"); (len(errors) == 1) != (row.exit == 3) || len(errors) > 1 || len(errors) == 1 && !strings.HasPrefix(errors[0].message, row.said) {
				t.Errorf("errors: %+v", errors)
			}
			if got := r.outputs["exit-code"] == fmt.Sprint(row.exit) && len(r.outputs) == 7; got != row.outputs {
				t.Errorf("outputs: %v", r.outputs)
			}
			if got := strings.HasPrefix(r.summary, "## ✅"); got != row.summary {
				t.Errorf("summary: %s", r.summary)
			}
			if row.name == "no folder for the report" {
				if r.outputs["report"] != "" {
					t.Errorf("the outputs name a report: %v", r.outputs)
				}
			} else if r.report == "" || len(r.annotations("warning")) != 1 {
				t.Errorf("no report or annotation: %s", r.stdout)
			}
		})
	}
}

// TestActionWithoutALog: a log that nobody takes does not take the results
// with it.
func TestActionWithoutALog(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	defer writer.Close()
	s := newStep(t, "server-command", "mcp-server gated")
	s.stdout = writer
	r := s.run()
	if r.exit != 3 || r.outputs["exit-code"] != "3" || r.outputs["candidates"] != "1" || r.summary == "" || r.report == "" {
		t.Errorf("exit status %d, outputs %v, summary %.40q", r.exit, r.outputs, r.summary)
	}
}

// TestActionPanic: a fault of ours is said in the same places.
func TestActionPanic(t *testing.T) {
	t.Parallel()
	s := newStep(t, "server-command", "mcp-server gated")
	cmd := exec.Command("mcp-server", "panicking-action")
	cmd.Env, cmd.Dir = append(os.Environ(), s.environ()...), s.workspace
	stdout, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatal(err)
	}
	r := s.result(result{exit: exit.ExitCode(), stdout: string(stdout), stderr: string(exit.Stderr)})
	r.ends(t, 3)
	if errors := r.annotations("error"); len(errors) != 1 || !strings.Contains(errors[0].message, "Internal error") {
		t.Errorf("errors: %+v", errors)
	}
	if r.outputs["exit-code"] != "3" || r.outputs["passed"] != "null" || !strings.Contains(r.summary, "internal error") {
		t.Errorf("outputs %v, summary %s", r.outputs, r.summary)
	}
}

// TestActionMask: before anything else, also where the step is refused.
func TestActionMask(t *testing.T) {
	t.Parallel()
	for _, settle := range []string{"0", "wrong"} {
		s := newStep(t, "server-command", "mcp-server gated", "http-authorization", " Bearer s3cr3t-value\n", "settle-ms", settle, "profiles", "none")
		r := s.run()
		if want := "::add-mask::Bearer s3cr3t-value\n::add-mask::s3cr3t-value\n"; !strings.HasPrefix(r.stdout, want) {
			t.Errorf("the log begins with %.80q", r.stdout)
		}
		if n := strings.Count(r.stdout+r.summary+r.report+fmt.Sprint(r.outputs), "s3cr3t"); n != 2 {
			t.Errorf("the value stands in %d places", n)
		}
	}
}

// TestActionPlaces: annotations sit on the lines of the repository, and what
// was acknowledged has none.
func TestActionPlaces(t *testing.T) {
	t.Parallel()
	const line = "Call `search`, then `summarize`. c4n4ry"
	for _, row := range []struct {
		name     string
		inputs   []string
		place    string
		warnings int
		notices  int
	}{
		{"tracked", nil, "src/server.js:3", 1, 0},
		{"named", []string{"instructions-file", "docs/a.md docs/b.md"}, "docs/b.md:2", 1, 0},
		{"named, without", []string{"instructions-file", "docs/a.md"}, "", 1, 0},
		{"acknowledged", []string{"acknowledge", "summarize"}, "", 0, 0},
		{"stale", []string{"acknowledge", "search,summarize"}, "", 0, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newStep(t, append([]string{"server-command", "mcp-server gated"}, row.inputs...)...)
			s.put(filepath.Join(s.workspace, "src/server.js"), "// x\nconst i = `\n"+strings.ReplaceAll(line, "`", "\\`")+"\n`;\n")
			s.put(filepath.Join(s.workspace, "docs/a.md"), "Say summarize.\n")
			s.put(filepath.Join(s.workspace, "docs/b.md"), "x\nOr `summarize`.\n")
			for _, words := range [][]string{{"init", "-q"}, {"add", "-A"}} {
				git := exec.Command("git", words...)
				git.Dir = s.workspace
				if out, err := git.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			r := s.run()
			r.ends(t, 0)
			warnings, notices := r.annotations("warning"), r.annotations("notice")
			if len(warnings) != row.warnings || len(notices) != row.notices {
				t.Fatalf("warnings %+v, notices %+v", warnings, notices)
			}
			if row.warnings > 0 {
				place := ""
				if f := warnings[0].fields; f["file"] != "" {
					place = f["file"] + ":" + f["line"]
				}
				if place != row.place {
					t.Errorf("the annotation is at %q, want %q", place, row.place)
				}
			}
			if row.notices > 0 && !strings.Contains(notices[0].message, "The tool search in acknowledge matches no candidate") {
				t.Errorf("notices: %+v", notices)
			}
			// Reviewed or not, the candidate counts and is shown.
			if r.outputs["candidates"] != "1" || !strings.Contains(r.summary, "`summarize`") || strings.Contains(r.summary, "(acknowledged)") != (row.warnings == 0) {
				t.Errorf("outputs %v, summary:\n%s", r.outputs, r.summary)
			}
		})
	}
}

// TestActionCrowded: ten thousand tools and three thousand findings.
func TestActionCrowded(t *testing.T) {
	t.Parallel()
	heavy(t)
	s := newStep(t, "server-command", "mcp-server crowded", "profiles", "none all", "require-tools", strings.Join(many(3000, 5000), ","))
	r := s.run()
	r.ends(t, 1)
	if r.outputs["candidates"] != "3000" || r.outputs["defects"] != "3000" {
		t.Errorf("outputs %v", r.outputs)
	}
	if len(r.summary) >= 1<<20 || !strings.Contains(r.summary, "more: see the JSON report") {
		t.Errorf("the summary has %d bytes", len(r.summary))
	}
	for _, part := range []string{"### Defects", "### Candidates", "### Tools by profile", "</details>\n"} {
		if !strings.Contains(r.summary, part) {
			t.Errorf("the summary lacks %q", part)
		}
	}
	for _, kind := range []string{"error", "warning"} {
		list := r.annotations(kind)
		if len(list) != 10 || list[9].message != "2991 more of this kind: see the job summary." {
			t.Errorf("%d of kind %s", len(list), kind)
		}
	}
}

// TestActionOwner: what is made belongs to the workspace's owner.
func TestActionOwner(t *testing.T) {
	t.Parallel()
	s := newStep(t, "server-command", "mcp-server gated", "report-path", "a/b/r.json")
	s.env = []string{"MCPEVAL_ON_RUNNER=1"} // another user could not read what the tests are made of
	uid, gid := os.Getuid(), os.Getgid()
	if uid == 0 {
		uid, gid = 12345, 54321
		if err := os.Chown(s.workspace, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	r := s.run()
	r.ends(t, 0)
	for _, path := range []string{"a", "a/b", "a/b/r.json"} {
		info, err := os.Lstat(filepath.Join(s.workspace, path))
		if err != nil {
			t.Fatal(err)
		}
		if owner := info.Sys().(*syscall.Stat_t); int(owner.Uid) != uid || int(owner.Gid) != gid {
			t.Errorf("%s belongs to %d:%d", path, owner.Uid, owner.Gid)
		}
	}
}

// TestActionWithoutWorkspace: refused, with outputs and a summary.
func TestActionWithoutWorkspace(t *testing.T) {
	t.Parallel()
	for _, outputs := range []bool{true, false} {
		s := newStep(t, "server-command", "mcp-server marks")
		s.env = []string{"GITHUB_WORKSPACE=" + filepath.Join(s.files, "none")}
		if !outputs {
			os.Remove(s.file("output"))
		}
		r := s.run()
		r.ends(t, 2)
		if want := "## ❌ MCP guidance: no workspace\n\nGITHUB\\_WORKSPACE names no folder that can be opened: run actions/checkout"; !strings.HasPrefix(r.summary, want) {
			t.Errorf("summary %s", r.summary)
		}
		if (r.outputs["exit-code"] == "2") != outputs || strings.Contains(r.stdout, "Invalid input") {
			t.Errorf("outputs %v, log:\n%s", r.outputs, r.stdout)
		}
	}
}

// TestActionUsageUnsaid: an invalid input stays one where nothing can be
// written.
func TestActionUsageUnsaid(t *testing.T) {
	t.Parallel()
	s := newStep(t, "server-command", "mcp-server marks", "jobs", "0")
	os.Remove(s.file("output"))
	os.Remove(s.file("summary"))
	r := s.run()
	r.ends(t, 2)
	if errors := r.annotations("error"); len(errors) != 3 || !strings.HasPrefix(errors[0].message, "Invalid input jobs: ") {
		t.Errorf("errors: %+v", errors)
	}
}

// TestActionSARIF: sarif-path adds a file, which is none of the report's; a
// place of the findings is in both.
func TestActionSARIF(t *testing.T) {
	t.Parallel()
	s := newStep(t, "server-command", "mcp-server gated", "sarif-path", "out/./guidance.sarif", "instructions-file", "a b.md")
	s.put(filepath.Join(s.workspace, "a b.md"), "x\nCall `search`, then `summarize`. c4n4ry\n")
	r := s.run()
	r.ends(t, 0)
	sarif := read(filepath.Join(s.workspace, "out/guidance.sarif"))
	if r.outputs["sarif"] != "out/guidance.sarif" || r.outputs["report"] != "mcpeval-guidance.json" || r.report == "" {
		t.Errorf("outputs %v", r.outputs)
	}
	for _, part := range []string{`"version": "2.1.0"`, `"ruleId": "referenced-tool-unavailable"`, `"uri": "a%20b.md"`, `"startLine": 2`} {
		if !strings.Contains(sarif, part) {
			t.Errorf("the SARIF file lacks %s:\n%s", part, sarif)
		}
	}
	if strings.Contains(sarif, canary) {
		t.Error("the SARIF file has a word of the server")
	}
	// Both, and the first again alone: no finding rests on one look.
	if !slices.Contains(r.lines, "mcpeval: 3 sessions observed, 2 in the report") {
		t.Errorf("log:\n%s", r.stdout)
	}
}

// TestActionSARIFOfAFolder: a result without a place is said of the
// configuration file, relative to the repository as any place is (case 34).
func TestActionSARIFOfAFolder(t *testing.T) {
	t.Parallel()
	s := newStep(t, "config", "server/.mcp.json", "server", "x", "sarif-path", "r.sarif")
	s.put(filepath.Join(s.workspace, "server/.mcp.json"), `{"mcpServers":{"x":{"command":"mcp-server","args":["gated"]}}}`)
	git := exec.Command("git", "init", "-q")
	git.Dir = filepath.Join(s.workspace, "server")
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r := s.run()
	r.ends(t, 0)
	if sarif := read(filepath.Join(s.workspace, "r.sarif")); strings.Count(sarif, `"uri": `) != 1 || !strings.Contains(sarif, `"uri": ".mcp.json"`) {
		t.Errorf("the SARIF file is not of .mcp.json:\n%s", sarif)
	}
}

// TestActionSARIFThatCannotBeWritten: the report stays.
func TestActionSARIFThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	s := newStep(t, "sarif-path", "r.sarif")
	s.set("server-command", "mcp-server blocks "+filepath.Join(s.workspace, "r.sarif"))
	r := s.run()
	r.ends(t, 3)
	if errors := r.annotations("error"); len(errors) != 1 || !strings.HasPrefix(errors[0].message, "The SARIF file could not be written to the workspace at sarif-path") {
		t.Errorf("errors: %+v", errors)
	}
	if r.outputs["sarif"] != "" || r.outputs["report"] == "" || r.report == "" || r.outputs["passed"] != "true" {
		t.Errorf("outputs %v", r.outputs)
	}
}
