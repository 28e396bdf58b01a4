package config

import (
	"crypto/rand"
	"time"

	"github.com/zclconf/go-cty/cty/function"

	"deployster/config/funcs"
)

// functionSet are the functions that the expressions of one module may call.
func (m *Manifest) functionSet(files *reader, console bool) map[string]function.Function {
	env := funcs.Env{Files: files, Dir: m.src.Workspace, Home: m.home(), PlanTime: m.builtins.PlanTime, Console: console}
	if console {
		env.Chance = &funcs.Chance{Now: time.Now(), Random: rand.Reader}
	}
	return funcs.New(env)
}

// home is what ~ stands for in functions: on replay what it stood for then.
func (m *Manifest) home() string {
	if m.src.Replay && m.src.Home != "" {
		return m.src.Home
	}
	return m.builtins.Home
}
