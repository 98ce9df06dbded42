//go:build unix

package action

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// guardedStep is the runner's files, each with a line in it, two folders below
// a temporary one.
func guardedStep(t *testing.T) (a *Action, folder string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	folder = filepath.Join(top, "temp/files")
	environ := map[string]string{}
	for _, variable := range commandFiles {
		environ[variable] = filepath.Join(folder, variable)
		put(t, folder, variable, "before\n")
	}
	os.Chmod(filepath.Join(folder, "GITHUB_ENV"), 0o640)
	a, _ = newAction(t, environ)
	return a, folder
}

// TestGuard: whatever a server makes of the runner's files, afterwards they are
// what they were, and it is known (case 41).
func TestGuard(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		tamper func(file, folder string) error
	}{
		{"appends", func(file, _ string) error { return rewrite(file, "before\npassed=true\n") }},
		{"shortens", func(file, _ string) error { return os.Truncate(file, 2) }},
		{"changes, with the length kept", func(file, _ string) error { return rewrite(file, "beyond\n") }},
		{"removes", func(file, _ string) error { return os.Remove(file) }},
		{"renames another over it", func(file, folder string) error {
			other := filepath.Join(folder, "other")
			return firstOf(os.WriteFile(other, []byte("before\n"), 0o644), os.Rename(other, file))
		}},
		{"puts a link there", func(file, folder string) error {
			other := filepath.Join(filepath.Dir(folder), "other")
			return firstOf(os.WriteFile(other, []byte("before\n"), 0o644), os.Remove(file), os.Symlink(other, file))
		}},
		{"puts a link to nothing there", func(file, _ string) error { return firstOf(os.Remove(file), os.Symlink("nothing", file)) }},
		{"puts a pipe there", func(file, _ string) error { return firstOf(os.Remove(file), syscall.Mkfifo(file, 0o666)) }},
		{"puts an empty folder there", func(file, _ string) error { return firstOf(os.Remove(file), os.Mkdir(file, 0o777)) }},
		{"puts a full folder there", func(file, _ string) error { return firstOf(os.Remove(file), os.MkdirAll(file+"/a/b", 0o777)) }},
		{"makes it readable for all", func(file, _ string) error { return os.Chmod(file, 0o666) }},
		{"opens the folder", func(_, folder string) error { return os.Chmod(folder, 0o777) }},
		{"moves the folder", func(_, folder string) error { return os.Rename(folder, folder+"-moved") }},
		{"moves the folder and makes another", func(_, folder string) error {
			return firstOf(os.Rename(folder, folder+"-moved"), os.Mkdir(folder, 0o755), rewrite(folder+"/GITHUB_ENV", "evil"))
		}},
		{"moves the folder and leads to it", func(_, folder string) error {
			return firstOf(os.Rename(folder, folder+"-moved"), os.Symlink(folder+"-moved", folder))
		}},
		{"removes the folder", func(_, folder string) error { return os.RemoveAll(folder) }},
		{"moves what the folder is in", func(_, folder string) error {
			return firstOf(os.Rename(filepath.Dir(folder), filepath.Dir(folder)+"-moved"), os.MkdirAll(folder, 0o755), rewrite(folder+"/GITHUB_ENV", "evil"))
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			a, folder := guardedStep(t)
			guard := a.GuardCommandFiles()
			if err := row.tamper(filepath.Join(folder, "GITHUB_ENV"), folder); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if tampered, err := guard.PutBack(); !tampered || err != nil {
				t.Errorf("tampered %t, %v", tampered, err)
			}
			if took := time.Since(began); took > time.Second {
				t.Errorf("took %s", took)
			}
			for _, variable := range commandFiles {
				want := os.FileMode(0o644)
				if variable == "GITHUB_ENV" {
					want = 0o640
				}
				path := filepath.Join(folder, variable)
				text, _ := os.ReadFile(path)
				if info, err := os.Lstat(path); err != nil || string(text) != "before\n" || info.Mode() != want {
					t.Errorf("%s is %v, %v, and holds %q", variable, info, err, text)
				}
			}
			if info, err := os.Lstat(folder); err != nil || info.Mode().Perm() != 0o755 {
				t.Errorf("the folder is %v, %v", info, err)
			}
		})
	}
}

// TestGuardLeavesAlone: nothing is said, and nothing written, where nobody
// touched the files, nor where there were none.
func TestGuardLeavesAlone(t *testing.T) {
	t.Parallel()
	a, folder := guardedStep(t)
	os.Remove(filepath.Join(folder, "GITHUB_STATE"))
	before, _ := os.Lstat(filepath.Join(folder, "GITHUB_ENV"))
	guard := a.GuardCommandFiles()
	put(t, folder, "another", "x")
	if tampered, err := guard.PutBack(); tampered || err != nil {
		t.Errorf("tampered %t, %v", tampered, err)
	}
	if after, _ := os.Lstat(filepath.Join(folder, "GITHUB_ENV")); !os.SameFile(before, after) {
		t.Error("a file was made anew")
	}
	guard = a.GuardCommandFiles()
	put(t, folder, "GITHUB_STATE", "evil")
	if tampered, err := guard.PutBack(); !tampered || err != nil {
		t.Errorf("a file where there was none: tampered %t, %v", tampered, err)
	}
	if _, err := os.Lstat(filepath.Join(folder, "GITHUB_STATE")); err == nil {
		t.Error("a file that was not there is there")
	}
}

// rewrite writes to the file that is there.
func rewrite(path, text string) error {
	return os.WriteFile(path, []byte(text), 0o644)
}

// firstOf returns the first error of steps that have been taken.
func firstOf(steps ...error) error {
	for _, err := range steps {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestGuardFollowsNothing: what a link leads to is neither written nor removed.
func TestGuardFollowsNothing(t *testing.T) {
	t.Parallel()
	a, folder := guardedStep(t)
	victim := filepath.Join(t.TempDir(), "victim")
	put(t, victim, "file", "kept")
	guard := a.GuardCommandFiles()
	for variable, target := range map[string]string{"GITHUB_ENV": victim, "GITHUB_PATH": filepath.Join(victim, "file")} {
		path := filepath.Join(folder, variable)
		if err := firstOf(os.Remove(path), os.Symlink(target, path)); err != nil {
			t.Fatal(err)
		}
	}
	if tampered, err := guard.PutBack(); !tampered || err != nil {
		t.Errorf("tampered %t, %v", tampered, err)
	}
	if text, _ := os.ReadFile(filepath.Join(victim, "file")); string(text) != "kept" {
		t.Errorf("the link's target holds %q", text)
	}
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		if strings.Contains(entry.Name(), ".mcpeval-") {
			t.Errorf("left behind: %s", entry.Name())
		}
	}
}
