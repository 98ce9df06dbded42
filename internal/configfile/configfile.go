// Package configfile reads the files in which people keep their MCP servers:
// .mcp.json, .vscode/mcp.json, a desktop client's file, a plugin's flat file
// (CONTRACT.md section 9). It must never start or contact anything, and its
// errors never hold a value of the file: they name lines, keys and variables.
package configfile

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/mcpeval-guidance/internal/name"
)

// File is a configuration file whose syntax has been judged, and whose entries
// have not.
type File struct {
	Entries []Entry // in the file's order
	project string  // the folder that the file's paths start at, absolute
	confine string  // the folder that no path may leave; empty: anywhere
	inputs  map[string]string
}

// Entry is one server of a file.
type Entry struct {
	Key  string // exactly as the file has it
	path string // for messages
	node node
	file *File
}

// Label is the entry's label in a report (CONTRACT.md section 3.3).
func (e Entry) Label() name.Name { return name.Label(e.Key) }

// Read reads a file. Paths in it must stay inside confine, unless that is
// empty.
func Read(path, confine string) (*File, error) {
	absolute, err := filepath.Abs(path)
	if path == "" || err != nil {
		return nil, errors.New("there is no such file")
	}
	file := &File{project: projectOf(absolute), confine: confine}
	if err := file.inside(absolute); err != nil {
		return nil, err
	}
	data, err := readRegular(absolute)
	if err != nil {
		return nil, err
	}
	root, err := parse(data)
	if err != nil {
		return nil, err
	}
	return file, file.find(root)
}

// projectOf is the folder of the file, or its parent where the file lies in a
// tool's own folder.
func projectOf(file string) string {
	folder := filepath.Dir(file)
	switch filepath.Base(folder) {
	case ".vscode", ".cursor", ".claude", ".github", ".idea":
		return filepath.Dir(folder)
	}
	return folder
}

// find fills in the entries and the inputs.
func (f *File) find(root node) error {
	top, err := root.object("the file")
	if err != nil {
		return err
	}
	where, holder, path := top, node{}, ""
	for _, key := range []string{"mcpServers", "servers", "mcp"} {
		holder, path = top.get(key), key
		if !holder.absent() {
			break
		}
	}
	if !holder.absent() && path == "mcp" {
		if where, err = holder.object("mcp"); err != nil {
			return err
		}
		for _, key := range []string{"mcpServers", "servers"} {
			if inner := where.get(key); !inner.absent() {
				holder, path = inner, "mcp."+key
				break
			}
		}
	}
	switch {
	case holder.absent():
		if len(top) == 0 || !top.areServers() {
			return errors.New("has no mcpServers (or servers, as VS Code has it), and its own keys are not all servers with a command or a url")
		}
		holder, path = root, ""
	case path == "mcp" && !where.areServers():
		return fmt.Errorf("line %d: mcp has neither mcpServers nor servers", holder.line)
	}
	servers, err := holder.object(path)
	if err != nil {
		return err
	}
	for _, m := range servers {
		f.Entries = append(f.Entries, Entry{Key: m.key, path: strings.TrimPrefix(path+"."+string(name.Label(m.key)), "."), node: m.node, file: f})
	}
	if len(f.Entries) == 0 {
		return fmt.Errorf("line %d: %s has no entry", holder.line, path)
	}
	return f.findInputs(where.get("inputs"))
}

// areServers reports whether every value is an object with a command or a URL.
func (o object) areServers() bool {
	for _, m := range o {
		members, err := m.node.object("")
		if err != nil || !slices.ContainsFunc(members, func(m member) bool {
			return m.key == "command" || slices.Contains(urlKeys, m.key)
		}) {
			return false
		}
	}
	return len(o) > 0
}

// findInputs keeps the defaults of VS Code's inputs.
func (f *File) findInputs(list node) error {
	f.inputs = map[string]string{}
	if list.absent() {
		return nil
	}
	inputs, err := list.list("inputs")
	if err != nil {
		return err
	}
	for _, input := range inputs {
		members, err := input.object("every element of inputs")
		if err != nil {
			return err
		}
		id, isID := members.get("id").text()
		standard, isText := members.get("default").text()
		if isID && isText {
			f.inputs[id] = standard
		}
	}
	return nil
}

// safe keeps a key that is a plain name and hides any other: a secret in the
// wrong place must not be echoed.
func safe(key string) string {
	if name.Valid(key) {
		return key
	}
	return "(an unusual name)"
}
