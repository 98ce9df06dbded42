//go:build unix

package proc

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestProgramOnThePath: a program is looked for as execvp(3) does, on the PATH
// and from the folder that the command gets (case 38).
func TestProgramOnThePath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for path, file := range map[string]struct {
		text string
		mode os.FileMode
	}{
		"a/good":         {"#!/bin/sh\necho a >said", 0o755},
		"b/good":         {"#!/bin/sh\necho b >said", 0o755},
		"locked/good":    {"#!/bin/sh\necho locked >said", 0o644},
		"a/locked":       {"#!/bin/sh\n", 0o644},
		"a/orphan":       {"#!/no/such/interpreter\n", 0o755},
		"a/noise":        {"\x00\x01", 0o755},
		"folder/good/x":  {"", 0o644},
		"work/good":      {"#!/bin/sh\necho work >said", 0o755},
		"work/bin/local": {"#!/bin/sh\necho local >said", 0o755},
	} {
		path = filepath.Join(dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(file.text), file.mode)); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		name    string
		path    string // with DIR for the folder of this test; "-": no PATH at all
		program string
		said    string
		err     error
	}{
		{name: "first of two", path: "DIR/a:DIR/b", program: "good", said: "a"},
		{name: "not ours", path: "DIR/b", program: "good", said: "b"},
		{name: "beyond one without the right", path: "DIR/locked:DIR/b", program: "good", said: "b"},
		{name: "beyond a folder of that name", path: "DIR/folder:DIR/none:DIR/b", program: "good", said: "b"},
		{name: "the last PATH wins", path: "DIR/a\nPATH=DIR/b", program: "good", said: "b"},
		{name: "seen from the command's folder", path: "bin:DIR/a", program: "local", said: "local"},
		{name: "an empty element is that folder", path: ":DIR/a", program: "good", said: "work"},
		{name: "with a slash", path: "DIR/a", program: "./good", said: "work"},
		{name: "absolute", path: "", program: "DIR/a/good", said: "a"},
		{name: "nowhere", path: "DIR/a", program: "c4n4ry", err: syscall.ENOENT},
		{name: "no such file", path: "DIR/a", program: "./c4n4ry", err: syscall.ENOENT},
		{name: "without a PATH", path: "-", program: "good", err: syscall.ENOENT},
		{name: "only without the right", path: "DIR/a", program: "locked", err: syscall.EACCES},
		{name: "no interpreter", path: "DIR/a", program: "orphan", err: ErrNoInterpreter},
		{name: "no program", path: "DIR/a", program: "noise", err: syscall.ENOEXEC},
		{name: "a folder", path: "DIR", program: "./bin", err: syscall.EACCES},
	} {
		t.Run(row.name, func(t *testing.T) {
			work := filepath.Join(dir, "work")
			os.Remove(filepath.Join(work, "said"))
			in := func(s string) string { return strings.ReplaceAll(s, "DIR", dir) }
			env := strings.Split("PATH="+in(row.path), "\n")
			if row.path == "-" {
				env = []string{"X=1"}
			}
			p, err := Start(Command{Args: []string{in(row.program)}, Dir: work, Env: env}, nil, nil)
			if row.err != nil {
				if !errors.Is(err, row.err) || errors.Is(err, ErrNoInterpreter) != (row.err == ErrNoInterpreter) {
					t.Errorf("%v, want %v", err, row.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			<-p.Done()
			if said, _ := os.ReadFile(filepath.Join(work, "said")); string(said) != row.said+"\n" {
				t.Errorf("%q ran, want %q", said, row.said)
			}
		})
	}
}

// TestUserImpossible: where the user cannot be taken on, nothing is started as
// somebody else.
func TestUserImpossible(t *testing.T) {
	t.Parallel()
	user := &User{UID: -1, GID: -1} // no user at all, for root too
	if user.Possible("/") == nil {
		t.Error("possible")
	}
	began := time.Now()
	if p, err := Start(Command{Args: []string{"sh", "-c", ":"}, Env: os.Environ(), User: user}, nil, nil); err == nil {
		p.Stop()
		t.Error("started")
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("took %s", took)
	}
}
