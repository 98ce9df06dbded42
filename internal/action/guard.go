package action

import "os"

// commandFiles are the runner's files that a step may write to.
var commandFiles = []string{"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE"}

// GuardCommandFiles notes how long the runner's command files are. The
// function it returns cuts them back: their names are not in the server's
// environment, but in the container it runs as the user who may write to
// them, and they lie in a place that is known.
func (a *Action) GuardCommandFiles() (restore func()) {
	sizes := map[string]int64{}
	for _, variable := range commandFiles {
		path := a.gha.Getenv(variable)
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			sizes[path] = info.Size()
		}
	}
	return func() {
		for path, size := range sizes {
			if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() > size {
				os.Truncate(path, size)
			}
		}
	}
}
