package docs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// runner runs the host action's steps as GitHub's runner does: the expression
// values of env, bash, GITHUB_OUTPUT, and no step after one that failed.
type runner struct {
	path      string // the action's folder
	inputs    map[string]string
	releases  string // where binaries are downloaded
	workspace string
}

type result struct {
	status  int
	outputs map[string]string // the action's
	log     string
}

var expression = regexp.MustCompile(`\$\{\{ (inputs|steps\.[a-z]+\.outputs)\.([a-z-]+) \}\}`)

func (r runner) run(t *testing.T) result {
	t.Helper()
	a := readAction(t, hostAction)
	values := map[string]string{}
	for _, in := range a.Inputs {
		values["inputs."+in.Name] = in.Default
	}
	for name, value := range r.inputs {
		values["inputs."+name] = value
	}
	evaluate := func(text string) string {
		return expression.ReplaceAllStringFunc(text, func(e string) string {
			return values[strings.TrimSuffix(strings.TrimPrefix(e, "${{ "), " }}")]
		})
	}
	res := result{outputs: map[string]string{}}
	var log bytes.Buffer
	for _, s := range a.Runs.Steps {
		outputFile := filepath.Join(t.TempDir(), "output")
		if err := os.WriteFile(outputFile, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", s.Run)
		cmd.Dir = r.workspace
		cmd.Env = append(os.Environ(),
			"GITHUB_ACTION_PATH="+r.path, "GITHUB_OUTPUT="+outputFile, "GITHUB_STEP_SUMMARY=",
			"GITHUB_WORKSPACE="+r.workspace, "GITHUB_REPOSITORY=octo/notes", "GITHUB_ACTIONS=true",
			"RUNNER_TEMP="+t.TempDir(), "MCPEVAL_RELEASES="+r.releases,
			"RUNNER_OS="+map[string]string{"linux": "Linux", "darwin": "macOS", "windows": "Windows"}[runtime.GOOS],
			"RUNNER_ARCH="+map[string]string{"amd64": "X64", "arm64": "ARM64"}[runtime.GOARCH],
		)
		for name, value := range s.Env {
			cmd.Env = append(cmd.Env, name+"="+evaluate(value))
		}
		cmd.Stdout, cmd.Stderr = &log, &log
		cmd.Run()
		for name, value := range readOutputs(t, outputFile) {
			values["steps."+s.ID+".outputs."+name] = value
		}
		if res.status = cmd.ProcessState.ExitCode(); res.status != 0 {
			break
		}
	}
	for _, out := range a.Outputs {
		// ${{ steps.check.outputs.x || steps.install.outputs.x }}
		for _, e := range strings.Split(strings.Trim(out.Value, "${} "), " || ") {
			if res.outputs[out.Name] == "" {
				res.outputs[out.Name] = values[e]
			}
		}
	}
	res.log = log.String()
	return res
}

// readOutputs reads GITHUB_OUTPUT in both of its forms.
func readOutputs(t *testing.T, file string) map[string]string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	outputs := map[string]string{}
	lines := strings.Split(string(data), "\n")
	for i := 0; i < len(lines); i++ {
		name, delimiter, heredoc := strings.Cut(lines[i], "<<")
		if !heredoc {
			if name, value, ok := strings.Cut(lines[i], "="); ok {
				outputs[name] = value
			}
			continue
		}
		var value []string
		for i++; i < len(lines) && lines[i] != delimiter; i++ {
			value = append(value, lines[i])
		}
		outputs[name] = strings.Join(value, "\n")
	}
	return outputs
}

func (r result) want(t *testing.T, status int, outputs string) {
	t.Helper()
	got := fmt.Sprintf("passed=%s complete=%s exit-code=%s candidates=%s defects=%s report=%s", r.outputs["passed"],
		r.outputs["complete"], r.outputs["exit-code"], r.outputs["candidates"], r.outputs["defects"], r.outputs["report"])
	if r.status != status || got != outputs {
		t.Errorf("status %d, want %d; outputs\n\t%s, want\n\t%s\n%s", r.status, status, got, outputs, r.log)
	}
}

func TestHostAction(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "awk"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("CI=true and no %s", tool)
			}
			t.Skipf("no %s", tool)
		}
	}
	const notRun = "passed=null complete=false exit-code=3 candidates=0 defects=0 report="
	program, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	asset := "mcpeval-" + runtime.GOOS + "-" + runtime.GOARCH
	releases := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path != "/v1.2.3/"+asset {
			http.NotFound(w, req)
			return
		}
		w.Write(program)
	}))
	defer releases.Close()

	// release makes the folder of the action as release.yml leaves it.
	release := func(t *testing.T, version, checksum string) runner {
		t.Helper()
		dir := t.TempDir()
		for name, content := range map[string]string{
			"install.sh": read(t, ".github/actions/host/install.sh"),
			"check.sh":   read(t, ".github/actions/host/check.sh"),
			"VERSION":    version + "\n",
			"SHA256SUMS": strings.Repeat("0", 64) + "  mcpeval-plan9-amd64\n" + checksum + "  " + asset + "\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return runner{path: dir, releases: releases.URL, workspace: t.TempDir(), inputs: map[string]string{
			"server-command": "'" + binary + "' demo-server",
			"profiles":       "none, sampling",
			"settle-ms":      "0",
		}}
	}
	sum := sha256.Sum256(program)
	right := hex.EncodeToString(sum[:])

	t.Run("passes", func(t *testing.T) {
		r := release(t, "1.2.3", right)
		r.inputs["require-tools"] = "list-notes read-note"
		res := r.run(t)
		res.want(t, 0, "passed=true complete=true exit-code=0 candidates=1 defects=0 report=mcpeval-guidance.json")
		if _, err := os.Stat(filepath.Join(r.workspace, "mcpeval-guidance.json")); err != nil {
			t.Error(err)
		}
	})
	t.Run("gate", func(t *testing.T) {
		r := release(t, "1.2.3", right)
		r.inputs["require-tools"] = "list-notes\nsummarize-note"
		r.run(t).want(t, 1, "passed=false complete=true exit-code=1 candidates=1 defects=1 report=mcpeval-guidance.json")
	})
	t.Run("invalid input", func(t *testing.T) {
		r := release(t, "1.2.3", right)
		r.inputs["jobs"] = "many"
		r.run(t).want(t, 2, "passed=null complete=false exit-code=2 candidates=0 defects=0 report=")
	})
	t.Run("nothing listens on the runner", func(t *testing.T) {
		r := release(t, "1.2.3", right)
		closed := httptest.NewServer(http.NotFoundHandler())
		closed.Close()
		r.inputs["server-command"], r.inputs["url"] = "", closed.URL
		res := r.run(t)
		res.want(t, 3, "passed=null complete=false exit-code=3 candidates=0 defects=0 report=mcpeval-guidance.json")
		if !strings.Contains(res.log, "connection-refused") || strings.Contains(res.log, "container") {
			t.Error(res.log)
		}
	})
	t.Run("wrong checksum", func(t *testing.T) {
		res := release(t, "1.2.3", strings.Repeat("1", 64)).run(t)
		res.want(t, 3, notRun)
		if !strings.Contains(res.log, "was not run") || strings.Contains(res.log, "Discover") {
			t.Error(res.log)
		}
	})
	t.Run("no checksum", func(t *testing.T) {
		r := release(t, "1.2.3", right)
		if err := os.WriteFile(filepath.Join(r.path, "SHA256SUMS"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		r.run(t).want(t, 3, notRun)
	})
	t.Run("no such release", func(t *testing.T) {
		release(t, "9.9.9", right).run(t).want(t, 3, notRun)
	})
	t.Run("no release, built from source", func(t *testing.T) {
		r := release(t, "1.2.3", right)
		path, err := filepath.Abs(filepath.Join(root, filepath.Dir(hostAction)))
		if err != nil {
			t.Fatal(err)
		}
		r.path = path
		r.run(t).want(t, 0, "passed=true complete=true exit-code=0 candidates=1 defects=0 report=mcpeval-guidance.json")
	})
	t.Run("a shell that drops names with a hyphen", func(t *testing.T) {
		output := filepath.Join(t.TempDir(), "output")
		cmd := exec.Command("bash", filepath.Join(root, ".github/actions/host/check.sh"))
		cmd.Env = append(os.Environ(), "INPUT_SERVER=notes", "MCPEVAL_BINARY="+binary, "GITHUB_OUTPUT="+output)
		cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != 3 {
			t.Errorf("exit status %d, want 3", got)
		}
		if got := readOutputs(t, output)["passed"]; got != "null" {
			t.Errorf("passed is %q", got)
		}
	})
}
