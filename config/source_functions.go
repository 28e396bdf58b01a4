package config

import (
	"crypto/rand"
	"time"

	"github.com/zclconf/go-cty/cty/function"

	"deployster/config/funcs"
)

// functionSet are the functions that the expressions of one module may call.
func (s *sourceSet) functionSet(files *reader, console bool) map[string]function.Function {
	env := funcs.Env{Files: files, Dir: s.src.Workspace, Home: s.home(), PlanTime: s.builtins.PlanTime, Console: console}
	if console {
		env.Chance = &funcs.Chance{Now: time.Now(), Random: rand.Reader}
	}
	return funcs.New(env)
}

// home is what ~ stands for in functions: on replay what it stood for then.
func (s *sourceSet) home() string {
	if s.src.Replay && s.src.Home != "" {
		return s.src.Home
	}
	return s.builtins.Home
}
