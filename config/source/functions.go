package source

import (
	"crypto/rand"
	"time"

	"github.com/zclconf/go-cty/cty/function"

	"deployster/config/funcs"
)

// FunctionSet returns the functions that the expressions of one module may call.
func (s *Set) FunctionSet(files *Reader, console bool) map[string]function.Function {
	env := funcs.Env{Files: files, Dir: s.Src.Workspace, Home: s.home(), PlanTime: s.Builtins.PlanTime, Console: console}
	if console {
		env.Impure = &funcs.Source{Now: time.Now(), Random: rand.Reader}
	}
	return funcs.New(env)
}

// Functions returns the functions of expressions. Those of files read none.
func Functions() map[string]function.Function { return funcs.New(funcs.Env{}) }

// home returns the directory that ~ stands for in functions: on replay, the one recorded in the plan.
func (s *Set) home() string {
	if s.Src.Replay && s.Src.Home != "" {
		return s.Src.Home
	}
	return s.Builtins.Home
}
