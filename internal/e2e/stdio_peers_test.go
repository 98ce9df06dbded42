//go:build linux

//lint:file-ignore SA1019 what 2026-07-28 deprecates is what 2025-06-18 has

package e2e

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sdkServer is a server made with the official SDK: it registers tools by
// what the client declares, once that is known, and its instructions stay the
// same.
func sdkServer() {
	type nothing struct{}
	add := func(s *mcp.Server, name string) {
		mcp.AddTool(s, &mcp.Tool{Name: name, Description: "c4n4ry-description"},
			func(context.Context, *mcp.CallToolRequest, nothing) (*mcp.CallToolResult, nothing, error) {
				return nil, nothing{}, nil
			})
	}
	var server *mcp.Server
	server = mcp.NewServer(&mcp.Implementation{Name: "c4n4ry-name", Version: "1"}, &mcp.ServerOptions{
		Instructions: "Start with `search`; `summarize` shortens, `confirm` asks the user, `workspace` looks at the roots. c4n4ry-instructions",
		HasTools:     true,
		InitializedHandler: func(_ context.Context, r *mcp.InitializedRequest) {
			declared := r.Session.InitializeParams().Capabilities
			if declared.Sampling != nil {
				add(server, "summarize")
			}
			if declared.Elicitation != nil {
				add(server, "confirm")
			}
			if declared.RootsV2 != nil {
				add(server, "workspace")
			}
		},
	})
	add(server, "search")
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}

// TestSDKServer checks a server whose wire is not ours: the official Go SDK's,
// with tools that are registered after notifications/initialized.
func TestSDKServer(t *testing.T) {
	t.Parallel()
	r := mcpeval(t, "guidance", "--server", "sdk", "--format", "json", "--settle-ms", "500", "--require-tool", "search", "--", "sdk-server")
	if r.exit != 0 || r.stderr != "" {
		t.Fatalf("exit status %d: %s", r.exit, r.stderr)
	}
	r.noCanary(t)
	got := r.report(t)
	tools := map[string][]string{}
	for _, p := range got.Profiles {
		tools[p.Profile] = p.Tools
	}
	if diff := cmp.Diff(map[string][]string{
		"none":        {"search"},
		"roots":       {"search", "workspace"},
		"sampling":    {"search", "summarize"},
		"elicitation": {"confirm", "search"},
		"all":         {"confirm", "search", "summarize", "workspace"},
	}, tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"none confirm", "none summarize", "none workspace",
		"roots confirm", "roots summarize",
		"sampling confirm", "sampling workspace",
		"elicitation summarize", "elicitation workspace",
	}, findings(got.Candidates)); diff != "" {
		t.Errorf("candidates (-want +got):\n%s", diff)
	}
}

func findings(list []documentFinding) []string {
	var out []string
	for _, f := range list {
		out = append(out, f.Profile+" "+f.Tool)
	}
	return out
}

// everything returns the command of the protocol's reference server, without
// its last word, the transport. It is installed from the lock file in
// testdata/everything into the user's cache, once for each lock file. Without
// npm the test is skipped, but not in CI.
func everything(t *testing.T) []string {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("npm is missing: the reference server cannot be installed")
		}
		t.Skip("npm is missing: the reference server is not tested; install Node.js to test it")
	}
	script, err := reference()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"node", script}
}

var reference = sync.OnceValues(func() (script string, _ error) {
	source := filepath.Join("..", "..", "testdata", "everything")
	lock, err := os.ReadFile(filepath.Join(source, "package-lock.json"))
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	cache = filepath.Join(cache, "mcpeval-guidance-test")
	home := filepath.Join(cache, fmt.Sprintf("everything-%.8x", sha256.Sum256(lock)))
	script = filepath.Join(home, "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js")
	if _, err := os.Stat(script); err == nil {
		return script, nil
	}
	// Installed beside its place and then moved, so that what is in its place
	// is whole.
	if err := os.MkdirAll(cache, 0o777); err != nil {
		return "", err
	}
	place, err := os.MkdirTemp(cache, "installing-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(place)
	for _, name := range []string{"package.json", "package-lock.json"} {
		data, err := os.ReadFile(filepath.Join(source, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(place, name), data, 0o666)
		}
		if err != nil {
			return "", err
		}
	}
	install := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Dir = place
	if out, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	if err := os.Rename(place, home); err != nil {
		if _, there := os.Stat(script); there != nil {
			return "", err
		}
	}
	return script, nil
})

// TestEverything checks the protocol's reference server (case 18): its
// instructions name tools that only some clients get.
func TestEverything(t *testing.T) {
	t.Parallel()
	command := append(everything(t), "stdio")
	run := func(t *testing.T, exit int, flags ...string) document {
		t.Helper()
		r := mcpeval(t, slices.Concat([]string{"guidance", "--server", "everything", "--format", "json"}, flags, []string{"--"}, command)...)
		if r.exit != exit || r.stderr != "" {
			t.Fatalf("exit status %d, not %d: %s", r.exit, exit, r.stderr)
		}
		return r.report(t)
	}
	t.Run("all profiles", func(t *testing.T) {
		t.Parallel()
		got := run(t, 0)
		var counts []int
		for _, p := range got.Profiles {
			counts = append(counts, len(p.Tools))
			if !*p.InstructionsPresent {
				t.Errorf("profile %s: no instructions", p.Profile)
			}
		}
		if want := []int{13, 14, 14, 14, 16}; !slices.Equal(counts, want) {
			t.Errorf("%v tools, not %v", counts, want)
		}
		if diff := cmp.Diff([]string{
			"none get-roots-list", "none trigger-elicitation-request", "none trigger-sampling-request",
			"roots trigger-elicitation-request", "roots trigger-sampling-request",
			"sampling get-roots-list", "sampling trigger-elicitation-request",
			"elicitation get-roots-list", "elicitation trigger-sampling-request",
		}, findings(got.Candidates)); diff != "" {
			t.Errorf("candidates (-want +got):\n%s", diff)
		}
		if !*got.Passed || len(got.Defects) > 0 {
			t.Errorf("passed %v, defects %v", *got.Passed, got.Defects)
		}
	})
	t.Run("a required tool", func(t *testing.T) {
		t.Parallel()
		got := run(t, 1, "--require-tool", "trigger-sampling-request")
		if diff := cmp.Diff([]string{"none trigger-sampling-request", "roots trigger-sampling-request", "elicitation trigger-sampling-request"}, findings(got.Defects)); diff != "" {
			t.Errorf("defects (-want +got):\n%s", diff)
		}
		if len(got.Candidates) != 9 {
			t.Errorf("%d candidates, not 9", len(got.Candidates))
		}
	})
	t.Run("a required tool in its profile", func(t *testing.T) {
		t.Parallel()
		got := run(t, 0, "--require-tool", "trigger-sampling-request", "--profile", "sampling")
		if len(got.Profiles) != 1 || len(got.Candidates)+len(got.Defects) > 0 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("under a shell and npx", func(t *testing.T) {
		t.Parallel()
		// npx is a process above node; sh one above npx. invocation.run looks
		// that none is left.
		folder, _, _ := strings.Cut(command[1], "node_modules")
		r := mcpeval(t, "guidance", "--server", "everything", "--profile", "none", "--settle-ms", "0", "--",
			"sh", "-c", `cd "$0" && npx --no-install mcp-server-everything stdio; exit $?`, folder)
		if r.exit != 0 {
			t.Errorf("exit status %d: %s", r.exit, r.stderr)
		}
	})
}

// TestLockFileIsPortable: the lock file pins every package by its digest and
// names no registry but the public one.
func TestLockFileIsPortable(t *testing.T) {
	t.Parallel()
	lock, err := os.ReadFile(filepath.Join("..", "..", "testdata", "everything", "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(lock), "\n") {
		if strings.Contains(line, `"resolved"`) && !strings.Contains(line, `"https://registry.npmjs.org/`) {
			t.Errorf("not for everybody: %s", strings.TrimSpace(line))
		}
	}
	if packages, digests := strings.Count(string(lock), `"node_modules/`), strings.Count(string(lock), `"integrity": "sha512-`); packages != digests || packages == 0 {
		t.Errorf("%d packages, %d digests", packages, digests)
	}
	if !strings.Contains(string(lock), `"@modelcontextprotocol/server-everything": "2026.8.31"`) {
		t.Error("another version of the reference server")
	}
}
