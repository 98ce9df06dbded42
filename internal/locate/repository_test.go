//go:build unix

package locate

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// repository is a workspace whose files are tracked.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		put(t, dir, name, text)
	}
	git(t, dir, "init", "-q")
	git(t, dir, "add", "-A")
	return dir
}

func git(t *testing.T, dir string, words ...string) {
	t.Helper()
	cmd := exec.Command("git", words...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(words, " "), err, out)
	}
}

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

// find returns the places by the tool's name.
func find(t *testing.T, dir string, mentions []Mention, named ...string) map[string]Position {
	t.Helper()
	r := List(t.Context(), dir, dir)
	defer r.Close()
	return byTool(r.find(t.Context(), mentions, named))
}

func byTool(places map[Key]Position) map[string]Position {
	found := map[string]Position{}
	for key, at := range places {
		found[key.Tool] = at
	}
	return found
}

func mentionOf(tool string, lines ...string) Mention {
	m := Mention{Key: Key{Tool: tool}}
	for _, line := range lines {
		m.Contexts = append(m.Contexts, Context{Line: line})
	}
	return m
}

// line is what most instructions of these tests say, with quotes and all.
const line = "Use \"`tool`\" when it's needed."

var mention = []Mention{mentionOf("tool", line)}

// TestLocateTracked: the one place of the tracked files, or none.
func TestLocateTracked(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		files map[string]string
		want  Position // no file: no place
	}{
		{"alone", map[string]string{"a.md": line}, Position{"a.md", 1}},
		{"in a folder", map[string]string{"a/b c/d.md": "x\n\n" + line + "\ny\n", "z": "z"}, Position{"a/b c/d.md", 3}},
		{"CRLF", map[string]string{"a.md": "x\r\n" + line + "\r\ny\r\n"}, Position{"a.md", 2}},
		{"indented", map[string]string{"a.py": "def f():\n    \"\"\"\n\t\t" + line + "  \n    \"\"\"\n"}, Position{"a.py", 3}},
		{"part of a line", map[string]string{"a.txt": "\n> * " + line + " And more.\n"}, Position{"a.txt", 2}},
		{"odd name", map[string]string{"ü, %0A:.md": line}, Position{"ü, %0A:.md", 1}},
		{"a line end in the name", map[string]string{"a\n.md": line}, Position{}},
		{"a bidirectional override in the name", map[string]string{"a\u202e.md": line}, Position{}},
		{"a line separator in the name", map[string]string{"a\u2028.md": line}, Position{}},
		{"a second place in such a file", map[string]string{"a\n.md": line, "b.md": line}, Position{}},
		{"twice in a file", map[string]string{"a.md": line + "\nx\n" + line}, Position{}},
		{"in two files", map[string]string{"a.md": line, "b.md": line}, Position{}},
		{"twice in a line", map[string]string{"a.md": line + line}, Position{"a.md", 1}},
		{"at the start of a longer word", map[string]string{"a.md": "re" + line}, Position{}},
		{"nowhere", map[string]string{"a.md": "Use `tool` otherwise.", "b.md": "tool"}, Position{}},
		{"over two lines", map[string]string{"a.md": strings.Replace(line, " when", "\nwhen", 1)}, Position{}},
		{"no file", nil, Position{}},
		{"JavaScript template", map[string]string{"a.js": "const i = `\nUse \"\\`tool\\`\" when it's needed.\n`;\n"}, Position{"a.js", 2}},
		{"JavaScript string", map[string]string{"a.js": `const i = 'x\n' +` + "\n  'Use \"`tool`\" when it\\'s needed.\\n';\n"}, Position{"a.js", 2}},
		{"Go string", map[string]string{"a.go": "package a\n\nconst i = \"First.\\nUse \\\"`tool`\\\" when it's needed.\\nLast.\"\n"}, Position{"a.go", 3}},
		{"Python triple quotes", map[string]string{"a.py": "I = \"\"\"First.\n\n    " + line + "\n\"\"\"\n"}, Position{"a.py", 3}},
		{"JSON", map[string]string{"a.json": "{\n  \"instructions\": \"First.\\n\\nUse \\\"`tool`\\\" when it's needed.\\n\"\n}\n"}, Position{"a.json", 2}},
		{"as it is and escaped", map[string]string{"a.js": "// " + line + "\nconst i = `Use \"\\`tool\\`\" when it's needed.`;\n"}, Position{}},
		{"escaped in another file", map[string]string{"a.md": line, "b.js": "i = `Use \\\"\\`tool\\`\\\" when it\\'s needed.`"}, Position{}},
		{"binary file", map[string]string{"a.bin": "\x00\n" + line}, Position{}},
		{"binary beside", map[string]string{"a.bin": "\x00\n" + line, "b.md": line}, Position{"b.md", 1}},
		{"at the bound", map[string]string{"a.md": strings.Repeat("x\n", (maxFile-len(line))/2) + line}, Position{"a.md", (maxFile-len(line))/2 + 1}},
		{"over the bound", map[string]string{"a.md": strings.Repeat("x\n", maxFile/2) + line}, Position{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			want := map[string]Position{}
			if row.want.File != "" {
				want["tool"] = row.want
			}
			if diff := cmp.Diff(want, find(t, repository(t, row.files), mention)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLocateLines: a tool's first line that is in one place counts, and each
// tool goes for itself.
func TestLocateLines(t *testing.T) {
	t.Parallel()
	dir := repository(t, map[string]string{
		"a.md": "Call `one` twice.\nCall `one` once.\nCall `two`.\n",
		"b.md": "Call `one` twice.\n\n  Call `three`.\n",
	})
	got := find(t, dir, []Mention{
		mentionOf("one", "Call `one` twice.", "", "   ", "Call `one` never.", "  Call `one` once.\r"),
		mentionOf("two", "Call `two`."),
		mentionOf("three", "\t Call `three`. "),
		mentionOf("four"),
		mentionOf("five", ""),
	})
	want := map[string]Position{"one": {"a.md", 2}, "two": {"a.md", 3}, "three": {"b.md", 3}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestLocateOnlyTracked: what is not tracked is no second place, and neither
// is a tracked link's target, inside or outside.
func TestLocateOnlyTracked(t *testing.T) {
	t.Parallel()
	dir := repository(t, map[string]string{"a.md": "x\n" + line, ".gitignore": "ignored\n"})
	put(t, dir, "ignored/b.md", line)
	put(t, dir, "untracked.md", line)
	outside := t.TempDir()
	put(t, outside, "secret.md", line)
	for link, target := range map[string]string{"link": "a.md", "out": filepath.Join(outside, "secret.md"), "up": "../" + filepath.Base(outside) + "/secret.md", "nowhere": "none"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
		git(t, dir, "add", link)
	}
	if diff := cmp.Diff(map[string]Position{"tool": {"a.md", 2}}, find(t, dir, mention)); diff != "" {
		t.Error(diff)
	}
	// A tracked file that has become something else since.
	for _, make := range []func(string) error{
		func(path string) error { return os.Mkdir(path, 0o777) },
		func(path string) error { return syscall.Mkfifo(path, 0o666) },
		func(path string) error { return os.Symlink(filepath.Join(outside, "secret.md"), path) },
		func(string) error { return nil },
	} {
		path := filepath.Join(dir, "a.md")
		os.Remove(path)
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		if got := find(t, dir, mention); len(got) > 0 {
			t.Errorf("%v", got)
		}
	}
	// A folder of the path that leads out.
	deep := repository(t, map[string]string{"folder/secret.md": "x"})
	os.RemoveAll(filepath.Join(deep, "folder"))
	if err := os.Symlink(outside, filepath.Join(deep, "folder")); err != nil {
		t.Fatal(err)
	}
	if got := find(t, deep, mention); len(got) > 0 {
		t.Errorf("read out of the workspace: %v", got)
	}
}

// TestLocateForeignRepository: in the container the repository belongs to
// another user than ours.
func TestLocateForeignRepository(t *testing.T) {
	t.Parallel()
	dir := repository(t, map[string]string{"a.md": line})
	if os.Getuid() == 0 {
		filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error { return os.Lchown(path, 12345, 54321) })
	}
	if diff := cmp.Diff(map[string]Position{"tool": {"a.md", 1}}, find(t, dir, mention)); diff != "" {
		t.Error(diff)
	}
}

// TestLocateWithoutGit: where git has nothing to say there is no place, and
// nothing fails.
func TestLocateWithoutGit(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "a.md", line)
	for name, spoil := range map[string]func(){
		"no repository":      func() {},
		"a broken one":       func() { put(t, dir, ".git/HEAD", "nonsense") },
		"an unreadable file": func() { put(t, dir, ".git", "gitdir: /nowhere") },
	} {
		os.RemoveAll(filepath.Join(dir, ".git"))
		spoil()
		if got := find(t, dir, mention); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	good := repository(t, map[string]string{"a.md": line})
	t.Setenv("PATH", t.TempDir())
	if got := find(t, good, mention); len(got) > 0 {
		t.Errorf("no git: %v", got)
	}
	if got := find(t, good, mention, "a.md"); got["tool"].Line != 1 {
		t.Errorf("no git, a named file: %v", got)
	}
}

// TestGitRunsNothing: neither the repository's configuration nor the user's
// nor the environment makes git run a command or write a file. A server could
// have written any of them, and so could a checked-out branch.
func TestGitRunsNothing(t *testing.T) {
	dir := repository(t, map[string]string{"a.md": line, ".gitattributes": "* filter=evil diff=evil\n"})
	home, bait := t.TempDir(), filepath.Join(t.TempDir(), "bait")
	script := filepath.Join(home, "evil")
	put(t, home, "evil", "#!/bin/sh\necho ran \"$@\" >>"+bait+"\n")
	if err := os.Chmod(script, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{
		"core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.alternateRefsCommand", "diff.external", "diff.evil.textconv", "credential.helper",
		"filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "uploadpack.packObjectsHook", "gpg.program", "trace2.eventTarget", "trace2.normalTarget",
	} {
		value := script
		if strings.HasPrefix(key, "trace2") {
			value = bait
		}
		git(t, dir, "config", key, value)
		git(t, dir, "config", "--file", filepath.Join(home, ".gitconfig"), key, value)
	}
	git(t, dir, "config", "alias.ls-files", "!"+script)
	for _, hook := range []string{"post-index-change", "post-checkout", "reference-transaction", "fsmonitor-watchman"} {
		put(t, dir, ".git/hooks/"+hook, "#!/bin/sh\necho hook >>"+bait+"\n")
		if err := os.Chmod(filepath.Join(dir, ".git/hooks", hook), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	os.Chtimes(filepath.Join(dir, "a.md"), time.Unix(1, 0), time.Unix(1, 0)) // the index is out of date
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	for _, variable := range []string{"GIT_TRACE", "GIT_TRACE2", "GIT_TRACE2_EVENT", "GIT_TRACE_SETUP"} {
		t.Setenv(variable, bait)
	}
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
	t.Setenv("GIT_CONFIG_VALUE_0", script)
	// The bait works: an ordinary git takes it.
	os.Remove(bait)
	cmd := exec.Command("git", "-c", "safe.directory=*", "ls-files")
	cmd.Dir = dir
	cmd.Run()
	if text, _ := os.ReadFile(bait); !strings.Contains(string(text), "ran") || !strings.Contains(string(text), "ls-files") {
		t.Errorf("the bait does not work: %q", text)
	}
	os.Remove(bait)
	if diff := cmp.Diff(map[string]Position{"tool": {"a.md", 1}}, find(t, dir, mention)); diff != "" {
		t.Error(diff)
	}
	if text, err := os.ReadFile(bait); err == nil {
		t.Errorf("git ran or wrote something: %s", text)
	}
}

// TestLocateBounds: where a bound is reached a second place cannot be ruled
// out, so there is none at all.
func TestLocateBounds(t *testing.T) {
	t.Parallel()
	dir := repository(t, map[string]string{"first.md": line, "big": strings.Repeat("\n", maxFile)})
	r := List(t.Context(), dir, dir)
	defer r.Close()
	r.files = []string{"first.md"}
	for range maxBytes/maxFile - 1 {
		r.files = append(r.files, "big")
	}
	if got := byTool(r.find(t.Context(), mention, nil)); got["tool"].Line != 1 {
		t.Errorf("within the bytes: %v", got)
	}
	r.files = append(r.files, "big")
	if got := r.find(t.Context(), mention, nil); len(got) > 0 {
		t.Errorf("over the bytes: %v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.files = r.files[:1]
	for _, named := range [][]string{nil, {"first.md"}} {
		if got := r.find(ctx, mention, named); len(got) > 0 {
			t.Errorf("interrupted: %v", got)
		}
	}
}

// TestTooManyFiles: the index alone says how many there are.
func TestTooManyFiles(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		files int
		width int // of a name
		ok    bool
	}{
		{maxFiles, 1, true},
		{maxFiles + 1, 1, false},
		{maxNames/200 - 1, 200, false},
	} {
		dir := t.TempDir()
		git(t, dir, "init", "-q")
		var index strings.Builder
		for i := range row.files {
			fmt.Fprintf(&index, "100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\t%0*d\n", row.width, i)
		}
		cmd := exec.Command("git", "update-index", "--index-info")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(index.String())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		r := List(t.Context(), dir, dir)
		if r.listed != row.ok || row.ok && len(r.files) != row.files {
			t.Errorf("%d names of width %d: %d files, %t", row.files, row.width, len(r.files), r.listed)
		}
		r.Close()
	}
}

// TestLocateNamed: in the named files the first line with the reference.
func TestLocateNamed(t *testing.T) {
	t.Parallel()
	fenced := "```\n`tool`\n```\n"
	for _, row := range []struct {
		name, text string
		want       int
	}{
		{"first line", "`tool`", 1},
		{"first of two", "x\nUse `tool`.\nUse `tool`.\n", 2},
		{"bare", "Use tool.\nUse 'tool'.\n", 0},
		{"called", "Use `tool()`, `x.tool`, `tool-2` and `my-tool`.\n", 0},
		{"called, then named", "Use `tool()`.\nUse `tool`.\n", 2},
		{"padded", "x\nUse ` tool `.\n", 2},
		{"padded between others", "Use `a` tool `b`.\nUse `tool`.\n", 2},
		{"double ticks", "Use ``tool``.\n", 1},
		{"double ticks, padded", "Use `` tool ``.\n", 1},
		{"uneven ticks", "Use ``tool`.\nUse `tool``.\n", 0},
		{"followed by a letter", "Use `tool`s.\n", 1},
		{"fenced before", fenced + "Use `tool`.\n", 4},
		{"fenced only", "x\n" + fenced, 3},
		{"tildes", "~~~\n`tool`\n~~~\nUse `tool`.\n", 4},
		{"tildes with a word in ticks", "~~~ `a`\n`tool`\n~~~\nUse `tool`.\n", 4},
		{"fence with a word", "```js\n`tool`\n```\nUse `tool`.\n", 4},
		{"longer fence", "````\n```\n`tool`\n```\n````\nUse `tool`.\n", 6},
		{"fence in a fence", "~~~\n```\n`tool`\n~~~\nUse `tool`.\n", 5},
		{"word after a fence's end", "```\n```js\n`tool`\n```\nUse `tool`.\n", 5},
		{"unclosed fence", "```\nx\n\nUse `tool`.\n", 4},
		{"no fence", "```tool``` `tool`\nUse `tool`.\n", 1},
		{"indented fence", "    ```\n    `tool`\n    ```\n    Use `tool`.\n", 4},
		{"template literal", "const i = `\n\\`\\`\\`\n\\`tool\\`\n\\`\\`\\`\nUse \\`tool\\`.`;\n", 5},
		{"CRLF", "```\r\n`tool`\r\n```\r\nUse `tool`.\r\n", 4},
		{"another tool with the name in it", "Use `tool-b`, then `a-tool`.\n`tool`\n", 2},
		{"binary", "\x00`tool`", 0},
		{"too large", strings.Repeat("x\n", maxFile/2) + "`tool`", 0},
		{"empty", "", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put(t, dir, "docs/in.md", row.text)
			got := find(t, dir, mention, "./docs/../docs/in.md")
			want := map[string]Position{}
			if row.want > 0 {
				want["tool"] = Position{"docs/in.md", row.want}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLocateNamedFiles: the first file that has the reference, a link inside
// included; the tracked files are not looked at, named files that have gone
// are passed over.
func TestLocateNamedFiles(t *testing.T) {
	t.Parallel()
	dir := repository(t, map[string]string{"a.md": "x\n`one`", "b.md": "`two`\n`one`", "c.md": "`three`"})
	if err := os.Symlink("b.md", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	got := find(t, dir, []Mention{mentionOf("one"), mentionOf("two"), mentionOf("three", "`three`")}, "gone.md", "fifo", "a.md", "link")
	want := map[string]Position{"one": {"a.md", 2}, "two": {"link", 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
