//go:build unix

package action

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// hostileWorkspace is a folder with everything in it that is not a plain file,
// beside a folder that must not be reached.
func hostileWorkspace(t *testing.T) (dir, outside string) {
	t.Helper()
	top := t.TempDir()
	dir, outside = filepath.Join(top, "workspace"), filepath.Join(top, "outside")
	put(t, outside, "secret.md", "`tool`")
	put(t, outside, ".mcp.json", `{"mcpServers":{"label":{"command":"c4n4ry"}}}`)
	put(t, dir, "sub/file.md", "`tool`")
	put(t, dir, "sub/.mcp.json", `{"mcpServers":{"label":{"command":"program"}}}`)
	put(t, dir, "sub/deeper/x", "")
	for link, target := range map[string]string{
		"out-file":         "../outside/secret.md",
		"out-folder":       "../outside",
		"out-config":       "../outside/.mcp.json",
		"out-absolute":     filepath.Join(outside, "secret.md"),
		"in-absolute":      filepath.Join(dir, "sub", "file.md"), // os.Root refuses what is absolute
		"in-file":          "sub/file.md",
		"in-folder":        "sub",
		"in-config":        "sub/.mcp.json",
		"dangling":         "nowhere",
		"dangling-out":     "../outside/new",
		"sub/up-and-out":   "../../outside/secret.md",
		"loop":             "loop",
		"sub/deeper/chain": "../../out-file",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir, outside
}

// TestPaths: no input leads out of the workspace, and none makes us wait.
func TestPaths(t *testing.T) {
	t.Parallel()
	dir, outside := hostileWorkspace(t)
	out := []string{
		"..", "../outside", "../outside/secret.md", "../outside/.mcp.json", "sub/../../outside/secret.md", "/etc/passwd", "/", outside, filepath.Join(outside, "secret.md"),
		filepath.Join(dir, "sub"), // inside, but absolute
		"out-file", "out-folder", "out-folder/secret.md", "out-folder/new.json", "out-folder/new/new.json", "out-config", "out-absolute", "in-absolute",
		"dangling-out", "sub/up-and-out", "sub/deeper/chain", "loop", "loop/x", "fifo", "fifo/x",
		"sub/file.md/x", "dangling/x",
	}
	for _, row := range []struct {
		input     string
		good, bad []string
	}{
		{"working-directory", []string{".", "sub", "./sub/", "sub/deeper", "sub/../sub", "in-folder", "in-folder/deeper"}, []string{"sub/file.md", "in-file", "none", "dangling", "sub\nx"}},
		{"config", []string{"sub/.mcp.json", "in-config", "in-folder/.mcp.json"}, []string{".", "sub", "none", "dangling", "sub/\nx"}},
		{"instructions-file", []string{"sub/file.md", "./sub/file.md", "in-file", "in-folder/file.md", "sub/file.md, in-file"}, []string{".", "sub", "none", "dangling", "sub/file.md, none"}},
		{"report-path", []string{"new.json", "./new.json", "sub/new.json", "a/b/c/new.json", "sub/file.md", "in-file", "in-folder/new.json", "-x", "..x", "_GitHubActionsFileCommandDelimeter_", "with a blank, and 'quotes'", "##[error]x", strings.Repeat("n", 255)},
			[]string{".", "sub", "sub/", "new/", "in-folder", "dangling", "a\nb.json", "a\rb.json", "a\u0085b", "a\x7fb", "sub/.."}},
	} {
		check := func(value string) (string, error) {
			environ := with(row.input, value)
			if row.input == "config" {
				environ["INPUT_SERVER-COMMAND"] = ""
			}
			a, _ := newActionIn(t, dir, func(name string) string { return environ[name] })
			_, err := a.Inputs()
			if err == nil {
				return "", nil
			}
			return err.(*Error).Input, err
		}
		for _, value := range row.good {
			if _, err := check(value); err != nil {
				t.Errorf("%s %q: %v", row.input, value, err)
			}
		}
		for _, value := range append(row.bad, out...) {
			input, err := check(value)
			if err == nil || input != row.input {
				t.Errorf("%s %q: %v, want a refusal", row.input, value, err)
			} else if len(value) > 3 && strings.Contains(err.Error(), value) {
				t.Errorf("%s %q: the error echoes it: %v", row.input, value, err)
			}
		}
	}
}

// TestWriteStaysInside: what was good when the inputs were read may be a link
// by the time the report is written.
func TestWriteStaysInside(t *testing.T) {
	t.Parallel()
	dir, outside := hostileWorkspace(t)
	w := openWorkspace(dir)
	for _, path := range []string{"out-folder/new.json", "out-folder/new/new.json", "sub", "loop/x", "sub/file.md/x", "fifo/x", "../outside/new.json", "dangling/x"} {
		if err := w.Write(path, text("report")); err == nil {
			t.Errorf("%s was written", path)
		}
	}
	entries, _ := os.ReadDir(outside)
	if len(entries) != 2 {
		t.Errorf("something came into the folder beside: %v", entries)
	}
	// A link or a pipe at the very place gives way: it is neither followed
	// nor waited for.
	for _, path := range []string{"out-file", "dangling-out", "fifo", "sub/deeper/chain", "in-file"} {
		if err := w.Write(path, text("report")); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		info, err := os.Lstat(filepath.Join(dir, path))
		if err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s is %v, %v", path, info, err)
		}
	}
	for _, path := range []string{filepath.Join(outside, "secret.md"), filepath.Join(dir, "sub/file.md")} {
		if text, _ := os.ReadFile(path); string(text) != "`tool`" {
			t.Errorf("%s was written through a link: %q", path, text)
		}
	}
	noTemporaries(t, dir)
}

func noTemporaries(t *testing.T, dir string) {
	t.Helper()
	filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error {
		if strings.HasPrefix(filepath.Base(path), ".mcpeval-") {
			t.Errorf("left behind: %s", path)
		}
		return nil
	})
}

// TestWriteIsWholeOrNot: whoever reads sees the old report or the new one.
func TestWriteIsWholeOrNot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := openWorkspace(dir)
	path := filepath.Join(dir, "report.json")
	texts := []string{strings.Repeat("a", 1<<20), strings.Repeat("b", 1<<20)}
	put(t, dir, "report.json", texts[0])
	done := make(chan error, 1)
	go func() {
		var err error
		for i := 0; i < 50 && err == nil; i++ {
			err = w.Write("report.json", text(texts[i%2]))
		}
		done <- err
	}()
	for {
		text, err := os.ReadFile(path)
		if err != nil || len(text) != 1<<20 || bytes.Count(text, text[:1]) != 1<<20 {
			t.Fatalf("read %d bytes, %v: half a report", len(text), err)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			noTemporaries(t, dir)
			return
		default:
		}
	}
}

// TestOwner: what we make belongs to whom the workspace belongs to. As root,
// as in the container, that is another user; what was there keeps its owner.
func TestOwner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "there/old", "")
	uid, gid := os.Getuid(), os.Getgid()
	if uid == 0 {
		uid, gid = 12345, 54321
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	w := openWorkspace(dir)
	for _, path := range []string{"report.json", "new/deep/er/report.json", "there/sub/report.json"} {
		if err := w.Write(path, text("x")); err != nil {
			t.Fatal(err)
		}
	}
	for path, mode := range map[string]os.FileMode{
		"report.json": 0o644, "new": 0o755, "new/deep": 0o755, "new/deep/er": 0o755, "new/deep/er/report.json": 0o644,
		"there/sub": 0o755, "there/sub/report.json": 0o644,
	} {
		info, err := os.Lstat(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		if owner := info.Sys().(*syscall.Stat_t); int(owner.Uid) != uid || int(owner.Gid) != gid {
			t.Errorf("%s belongs to %d:%d, want %d:%d", path, owner.Uid, owner.Gid, uid, gid)
		}
		if info.Mode().Perm()&^mode != 0 {
			t.Errorf("%s has mode %v, want at most %v", path, info.Mode(), mode)
		}
	}
	info, _ := os.Lstat(filepath.Join(dir, "there"))
	if owner := info.Sys().(*syscall.Stat_t); int(owner.Uid) != os.Getuid() {
		t.Errorf("a folder that was there was given to %d", owner.Uid)
	}
}

func text(content string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	}
}
