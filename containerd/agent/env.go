package agent

import (
	"os"
	"strings"
	"syscall"
)

// EnvFlag is the first argument of an agent that becomes a program, with further variables from a file.
const EnvFlag = "-env"

// Become replaces this process by a program whose environment has the variables of a file in addition. It returns the
// exit code if that fails.
func Become(file string, argv []string) int {
	content, err := os.ReadFile(file)
	if err != nil {
		return fail("the variables cannot be read")
	}
	env := syscall.Environ()
	for _, one := range strings.Split(strings.TrimSuffix(string(content), "\x00"), "\x00") {
		name, _, _ := strings.Cut(one, "=")
		kept := env[:0]
		for _, kv := range env {
			if !strings.HasPrefix(kv, name+"=") {
				kept = append(kept, kv)
			}
		}
		env = append(kept, one)
	}
	path, err := (&server{env: env}).find(argv[0])
	if err == nil {
		err = syscall.Exec(path, argv, env)
	}
	return fail(argv[0] + ": " + err.Error())
}

// fail reports why the program was not started, with the exit code that shells use for it.
func fail(why string) int {
	_, _ = os.Stderr.WriteString(why + "\n")
	return 127
}
