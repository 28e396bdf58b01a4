package source

import (
	"crypto/rand"
	"time"

	"github.com/zclconf/go-cty/cty/function"

	"deployster/config/funcs"
)

// FunctionSet are the functions that the expressions of one module may call.
func (s *Set) FunctionSet(files *Reader, console bool) map[string]function.Function {
	env := funcs.Env{Files: files, Dir: s.Src.Workspace, Home: s.home(), PlanTime: s.Builtins.PlanTime, Console: console}
	if console {
		env.Impure = &funcs.Source{Now: time.Now(), Random: rand.Reader}
	}
	return funcs.New(env)
}

// home is what ~ stands for in functions: on replay what it stood for then.
func (s *Set) home() string {
	if s.Src.Replay && s.Src.Home != "" {
		return s.Src.Home
	}
	return s.Builtins.Home
}
