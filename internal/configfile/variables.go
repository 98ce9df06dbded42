package configfile

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// Variables is what a file may refer to.
type Variables struct {
	Environ map[string]string      // as the server will get it
	Inputs  map[string]string      // MCPEVAL_INPUT_*, for ${input:ID}
	Kept    func(name string) bool // whether a variable is kept from the server
}

// expand replaces the references in a string, once: what a variable holds is
// not looked into. The error names the variable, never a value.
func (f *File) expand(text string, vars Variables) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		reference, after, closed := strings.Cut(rest, "}")
		if !closed {
			out.WriteString("${" + rest)
			return out.String(), nil
		}
		if strings.Contains(reference, "${") {
			return "", fmt.Errorf("has a ${ inside another ${...}: a default is taken as it is, so write it without one")
		}
		value, err := f.lookup(reference, vars)
		if err != nil {
			return "", err
		}
		out.WriteString(value)
		text = after
	}
}

// referenceParts is VAR, env:VAR, each also with :-default.
var referenceParts = regexp.MustCompile(`(?s)^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(:-(.*))?$`)

func (f *File) lookup(reference string, vars Variables) (string, error) {
	if id, ok := strings.CutPrefix(reference, "input:"); ok {
		variable := InputVariable(id)
		if value, set := vars.Inputs[variable]; set {
			return value, nil
		}
		if value, set := f.inputs[id]; set {
			return value, nil
		}
		return "", fmt.Errorf("the variable %s is not set: set it {in-environment} to what ${input:...} stands for", variable)
	}
	parts := referenceParts.FindStringSubmatch(reference)
	if parts == nil {
		return "", fmt.Errorf("has a ${...} that is none of ${VAR}, ${VAR:-default}, ${env:VAR}, ${input:ID} and ${workspaceFolder}")
	}
	variable, hasDefault, standard := parts[1], parts[2] != "", parts[3]
	switch variable {
	case "workspaceFolder", "CLAUDE_PROJECT_DIR", "CLAUDE_PLUGIN_ROOT":
		return f.project, nil
	case "workspaceFolderBasename":
		return filepath.Base(f.project), nil
	case "userHome":
		for _, variable := range []string{"HOME", "USERPROFILE"} {
			if home := vars.Environ[variable]; home != "" {
				return home, nil
			}
		}
		variable = "HOME"
	}
	value, set := vars.Environ[variable]
	switch {
	case set:
		return value, nil
	case hasDefault:
		return standard, nil
	case vars.Kept(variable):
		return "", fmt.Errorf("the variable %s is kept from the server, so a file cannot use it", variable)
	}
	return "", fmt.Errorf("the variable %s is not set: set it {in-environment}, or write ${%s:-default}", variable, variable)
}

// InputVariable is the variable that stands for VS Code's ${input:ID}: the ID
// in capitals, with _ for what is neither letter nor digit.
func InputVariable(id string) string {
	return "MCPEVAL_INPUT_" + strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return '_'
	}, id)
}
