package locate

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Bounds of the search. Where one is reached, a second place cannot be ruled
// out and nothing has a place.
const (
	maxFiles = 20000
	maxFile  = 1 << 20   // bytes of one file; larger ones are bundles and data
	maxBytes = 128 << 20 // bytes of all files
	maxNames = 4 << 20   // bytes of all files' names
	maxTime  = 3 * time.Second
)

// Repository is the files that can be searched for places: those that git
// tracked before a server was started. It must be closed.
type Repository struct {
	workspace *os.Root        // for the named files; nil where there is none
	root      *os.Root        // what the files are relative to
	prefix    string          // of root in the workspace, with slashes
	files     []string        // relative to root, with slashes
	listed    bool            // git has said all files
	generated map[string]bool // what the git attributes say of a file
	folders   map[string]bool // whether a folder is one, and no link
}

// List asks git for the files of the repository that holds dir, a folder of
// the workspace: of the workspace itself where there is none inside it. It
// runs programs, so it must be called before anything that is not trusted can
// have replaced them; the folders that it opens stay the same ones, whatever
// takes their place. It never fails: without a listing only named files have
// places.
func List(ctx context.Context, workspace, dir string) *Repository {
	r := &Repository{folders: map[string]bool{}}
	var err error
	if r.workspace, err = os.OpenRoot(workspace); err != nil {
		return r
	}
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	top := workspace
	if inside, ok := topLevel(ctx, workspace, dir); ok && inside != "." {
		r.prefix, top = filepath.ToSlash(inside), filepath.Join(workspace, inside)
	}
	if r.root, err = r.workspace.OpenRoot(filepath.FromSlash(path.Join(".", r.prefix))); err != nil {
		return r
	}
	list, ok := readGit(ctx, top, nil, maxNames, "ls-files", "-z")
	if !ok {
		return r
	}
	r.files = strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00")
	r.listed = len(r.files) <= maxFiles
	if r.listed && slices.ContainsFunc(r.files, func(file string) bool { return path.Base(file) == ".gitattributes" }) {
		r.generated = attributes(ctx, top, list)
	}
	return r
}

// Close lets go of the folders.
func (r *Repository) Close() {
	for _, root := range []*os.Root{r.root, r.workspace} {
		if root != nil {
			root.Close()
		}
	}
}

// topLevel returns the root of the repository that holds dir, relative to the
// workspace that it is inside of.
func topLevel(ctx context.Context, workspace, dir string) (string, bool) {
	top, ok := readGit(ctx, dir, nil, 1<<16, "rev-parse", "--show-toplevel")
	if !ok {
		return "", false
	}
	// git has resolved all links on the way.
	base, err := filepath.EvalSymlinks(workspace)
	if err != nil {
		return "", false
	}
	inside, err := filepath.Rel(base, filepath.FromSlash(strings.TrimRight(string(top), "\r\n")))
	return inside, err == nil && filepath.IsLocal(inside)
}

// attributes returns what the repository's attributes say about linguist-generated.
func attributes(ctx context.Context, top string, list []byte) map[string]bool {
	said, ok := readGit(ctx, top, list, 4*maxNames, "check-attr", "-z", "--stdin", "linguist-generated")
	if !ok {
		return nil
	}
	generated := map[string]bool{}
	fields := strings.Split(string(said), "\x00") // path, attribute, value, and again
	for i := 0; i+2 < len(fields); i += 3 {
		switch fields[i+2] {
		case "set", "true":
			generated[fields[i]] = true
		case "unset", "false":
			generated[fields[i]] = false
		}
	}
	return generated
}

// readGit runs a command of git that only reads. The repository may belong to
// another user than the container's, which git must be told to accept. Its
// configuration, and the user's, may be a stranger's work: no command that
// they name is run, no file that they name is written, nothing is fetched.
func readGit(ctx context.Context, dir string, stdin []byte, limit int64, words ...string) ([]byte, bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	command := exec.CommandContext(ctx, "git", slices.Concat([]string{"-c", "safe.directory=*",
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.attributesFile=" + os.DevNull}, words)...)
	command.Dir = dir
	command.Env = []string{
		"PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=",
	}
	command.WaitDelay = time.Second
	if stdin != nil {
		command.Stdin = bytes.NewReader(stdin)
	}
	stdout, err := command.StdoutPipe()
	if err != nil || command.Start() != nil {
		return nil, false
	}
	said, err := io.ReadAll(io.LimitReader(stdout, limit))
	over := err != nil || int64(len(said)) == limit
	if over {
		cancel()
	}
	return said, command.Wait() == nil && !over
}

// read reads a file of the listing that is text and not large. A tracked link
// is not a second place of what it leads to, so links are not followed, those
// that have taken a folder's place neither.
func (r *Repository) read(file string) ([]byte, bool) {
	if !r.isFolder(path.Dir(file)) {
		return nil, false
	}
	return readText(r.root, file, r.root.Lstat)
}

func (r *Repository) isFolder(dir string) bool {
	if dir == "." {
		return true
	}
	known, ok := r.folders[dir]
	if !ok {
		info, err := r.root.Lstat(dir)
		known = err == nil && info.IsDir() && r.isFolder(path.Dir(dir))
		r.folders[dir] = known
	}
	return known
}

// readText reads a regular file that is text. What is no regular file any
// more when it is opened is not waited for.
func readText(root *os.Root, file string, stat func(string) (fs.FileInfo, error)) ([]byte, bool) {
	info, err := stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, false
	}
	f, err := root.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		return nil, false
	}
	text := make([]byte, info.Size())
	n, err := io.ReadFull(f, text)
	if err != nil && err != io.ErrUnexpectedEOF {
		return nil, false
	}
	text = text[:n]
	return text, bytes.IndexByte(text[:min(n, 8000)], 0) < 0
}

// generatedFolders are the folders whose content a tool has written, and
// those of other people's code.
var generatedFolders = map[string]bool{
	"dist": true, "build": true, "out": true, "target": true, "_build": true, ".next": true, ".nuxt": true,
	".output": true, "coverage": true, "__snapshots__": true, "node_modules": true, "vendor": true,
	"third_party": true, "generated": true, "__generated__": true, "site-packages": true,
}

// isGenerated reports whether the git attributes, the file's name or its own
// first lines say that a tool has written it.
func (r *Repository) isGenerated(file string, text []byte) bool {
	if said, ok := r.generated[file]; ok {
		return said
	}
	for folder := range strings.SplitSeq(path.Dir(file), "/") {
		if generatedFolders[folder] {
			return true
		}
	}
	base := strings.ToLower(path.Base(file))
	for _, end := range []string{".map", ".lock", ".snap", "-lock.json", "-lock.yaml", ".min.js", ".min.mjs", ".bundle.js", ".min.css"} {
		if strings.HasSuffix(base, end) {
			return true
		}
	}
	head := text[:min(len(text), 1<<10)]
	if bytes.Contains(head, []byte("@generated")) || bytes.Contains(head, []byte("DO NOT EDIT")) && bytes.Contains(head, []byte("enerated")) {
		return true
	}
	switch path.Ext(base) {
	case ".js", ".mjs", ".cjs":
		return len(text) > 10<<10 && len(text)/(bytes.Count(text, []byte("\n"))+1) > 500
	}
	return false
}

// asides are the words of a path that tell of tests, examples and documents:
// they repeat a text that stands elsewhere.
var asides = map[string]bool{
	"test": true, "tests": true, "testing": true, "testdata": true, "spec": true, "specs": true, "e2e": true,
	"fixture": true, "fixtures": true, "mock": true, "mocks": true, "golden": true, "snapshot": true, "snapshots": true,
	"example": true, "examples": true, "eval": true, "evals": true, "doc": true, "docs": true, "readme": true,
	"changelog": true, "changes": true, "history": true, "releases": true, "contributing": true,
}

// isAside reports whether the path is one of tests, examples or documents.
func isAside(file string) bool {
	words := strings.FieldsFunc(strings.ToLower(file), func(r rune) bool { return strings.ContainsRune("/._- ", r) })
	if slices.ContainsFunc(words, func(word string) bool { return asides[word] }) {
		return true
	}
	stem := strings.TrimSuffix(path.Base(file), path.Ext(file))
	return strings.HasSuffix(stem, "Test") || strings.HasSuffix(stem, "Tests") || strings.HasSuffix(stem, "Spec")
}
