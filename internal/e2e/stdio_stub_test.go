//go:build linux

package e2e

var wireBehaviours, crowdBehaviours map[string]behaviour
var cleanupBehaviours = map[string]behaviour{"sleeper": func(p *peer) { p.stall() }}

func sdkServer() {}
