package action

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sethvargo/go-githubactions"
)

// newAction makes an Action in an empty workspace, with an environment of its
// own and a log that the test can read.
func newAction(t *testing.T, environ map[string]string) (*Action, *bytes.Buffer) {
	t.Helper()
	return newActionIn(t, t.TempDir(), func(name string) string { return environ[name] })
}

func newActionIn(t *testing.T, dir string, getenv func(string) string) (*Action, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	kept := &log{out: &out}
	workspace := openWorkspace(dir)
	if workspace == nil {
		t.Fatal("no workspace")
	}
	t.Cleanup(func() { workspace.root.Close() })
	return &Action{
		gha:       githubactions.New(githubactions.WithWriter(kept), githubactions.WithGetenv(getenv)),
		log:       kept,
		workspace: workspace,
	}, &out
}

// inputs makes an environment from inputs: name, value, name, value.
func inputs(pairs ...string) map[string]string {
	environ := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		environ["INPUT_"+strings.ToUpper(pairs[i])] = pairs[i+1]
	}
	return environ
}

// command is a workflow command as the runner reads it.
type command struct {
	name    string
	fields  map[string]string
	message string
}

// readLog reads a log as the runner's ActionCommand.cs does and fails the
// test for a command that is none of ours.
func readLog(t *testing.T, text string) (commands []command, plain []string) {
	t.Helper()
	if text != "" && !strings.HasSuffix(text, "\n") {
		t.Errorf("the log's last line has no end: %q", text[max(0, len(text)-80):])
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.Contains(line, "##[") {
			t.Errorf("the log has a command of the old form: %q", line)
		}
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "::")
		if !ok {
			plain = append(plain, line)
			continue
		}
		head, message, ok := strings.Cut(rest, "::")
		name, fields, _ := strings.Cut(head, " ")
		switch name {
		case "add-mask", "group", "endgroup", "error", "warning", "notice":
		default:
			ok = false
		}
		if !ok {
			t.Errorf("the log has a stray command: %q", line)
			continue
		}
		c := command{name, map[string]string{}, strings.NewReplacer("%0A", "\n", "%0D", "\r", "%25", "%").Replace(message)}
		for field := range strings.SplitSeq(fields, ",") {
			if key, value, ok := strings.Cut(field, "="); ok {
				c.fields[key] = strings.NewReplacer("%0A", "\n", "%0D", "\r", "%25", "%", "%3A", ":", "%2C", ",").Replace(value)
			}
		}
		commands = append(commands, c)
	}
	return commands, plain
}

// pair is one output.
type pair struct{ name, value string }

// readOutputs reads a command file as the runner's FileCommandManager.cs
// does.
func readOutputs(text string) (pairs []pair, err error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		equals, heredoc := strings.Index(lines[i], "="), strings.Index(lines[i], "<<")
		switch {
		case lines[i] == "":
		case equals > 0 && (heredoc < 0 || equals < heredoc):
			pairs = append(pairs, pair{lines[i][:equals], lines[i][equals+1:]})
		case heredoc > 0:
			name, delimiter := lines[i][:heredoc], lines[i][heredoc+2:]
			var value []string
			for i++; i < len(lines) && lines[i] != delimiter; i++ {
				value = append(value, lines[i])
			}
			if i == len(lines) {
				return nil, fmt.Errorf("no delimiter after %s", name)
			}
			pairs = append(pairs, pair{name, strings.Join(value, "\n")})
		default:
			return nil, fmt.Errorf("invalid format %q", lines[i])
		}
	}
	return pairs, nil
}

// put writes a file of a workspace, with its folders.
func put(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
