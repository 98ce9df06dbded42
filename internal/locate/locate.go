// Package locate finds the line of the user's repository that a text of a
// server comes from (CONTRACT.md section 7). It only reads, never outside the
// workspace, keeps nothing of what it reads, and tells no line rather than
// one that may be wrong.
package locate

import (
	"context"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Context is one place where a text names a tool, for finding the line in the
// user's repository; it goes nowhere else.
type Context struct {
	Line   string // the whole line of the text; empty where it is long
	Before string // up to 96 letters and digits that precede the name in the text, all other characters left out
	After  string // the same, after the name
}

// Key says what a place is looked for: a tool, and the text that names it.
type Key struct {
	Tool        string
	Description string // of which tool it is; empty for the instructions
}

// Mention is a tool with the places of the text that name it.
type Mention struct {
	Key
	Contexts []Context
}

// Position is a line of a file of the user's repository.
type Position struct {
	File string // relative to the repository's root, with slashes
	Line int    // from 1
}

// Find returns where each mention stands: in the named files, which are
// relative to the workspace, or in the repository's where none is named. A
// mention that is not in the result has no place that can be told. A context
// that ends, or a bound that is reached, leaves nothing that the rest of the
// search could have contradicted.
func (r *Repository) Find(ctx context.Context, mentions []Mention, named []string) map[Key]Position {
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	return r.find(ctx, mentions, named)
}

func (r *Repository) find(ctx context.Context, mentions []Mention, named []string) map[Key]Position {
	s := newSearch(mentions)
	if len(named) > 0 {
		return r.findNamed(ctx, s, mentions, named)
	}
	if !r.listed || len(mentions) == 0 {
		return nil
	}
	total := 0
	for _, file := range r.files {
		if ctx.Err() != nil {
			return nil
		}
		text, ok := r.read(file)
		if !ok {
			continue
		}
		if total += len(text); total > maxBytes {
			return nil
		}
		s.look(ctx, source{file, isAside(file), r.isGenerated(file, text)}, text)
	}
	if ctx.Err() != nil {
		return nil
	}
	return s.places(mentions, enough)
}

// findNamed looks into the files that the user has named: the text is there,
// so less has to agree, and the first reference is the last resort.
func (r *Repository) findNamed(ctx context.Context, s *search, mentions []Mention, named []string) map[Key]Position {
	if r.workspace == nil || len(mentions) == 0 {
		return nil
	}
	first := map[string]Position{}
	wanted := map[string]bool{}
	for _, m := range mentions {
		wanted[m.Tool] = true
	}
	for _, file := range named {
		if ctx.Err() != nil {
			return nil
		}
		text, ok := readText(r.workspace, file, r.workspace.Stat)
		if !ok {
			continue
		}
		shown := r.Relative(file)
		s.look(ctx, source{file: shown}, text)
		for tool, line := range firstReferences(ctx, text, wanted) {
			if _, done := first[tool]; !done {
				first[tool] = Position{shown, line}
			}
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	found := s.places(mentions, enoughNamed)
	for _, m := range mentions {
		at, ok := first[m.Tool]
		if _, done := found[m.Key]; !done && ok && m.Description == "" && canBeShown(at.File) {
			found[m.Key] = at
		}
	}
	return found
}

// Relative turns a file of the workspace into one of the repository, where it
// is inside, with slashes.
func (r *Repository) Relative(file string) string {
	file = path.Clean(filepath.ToSlash(file))
	if inside, ok := strings.CutPrefix(file, r.prefix+"/"); ok && r.prefix != "" {
		return inside
	}
	return file
}

// canBeShown reports whether a file's name is nothing but text: it goes into
// the log and onto the pull request.
func canBeShown(file string) bool {
	return utf8.ValidString(file) && !strings.ContainsFunc(file, func(r rune) bool {
		return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
	})
}
