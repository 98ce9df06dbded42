package cli

func (a *app) action() int { return 3 }
