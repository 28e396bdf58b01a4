package ssh

import (
	"fmt"

	"deployster/internal/runtime/remote"
	"deployster/internal/runtime/remote/child"
	"deployster/internal/runtime/runner"
)

// session is an ssh process, and what the host has printed before the agent was ready.
type session struct {
	ssh     *child.Process
	heard   int         // bytes that were read
	printed *runner.Log // those of them that are not of the script
	ended   func()      // removes the file with the host's key, which ssh has read when the host answers
}

func start(a runner.Host, o Options, script string, fresh bool) (*session, error) {
	path, ended := "", func() {}
	if a.HostKey != "" {
		keys, err := writeKeys(knownHosts(a))
		if err != nil {
			return nil, err
		}
		path, ended = keys.path, keys.close
	}
	command := o.Command
	if len(command) == 0 {
		command = []string{"ssh"}
	}
	command = append(append([]string(nil), command...), commandOf(a, script, path, fresh)...)
	process, err := child.Start(command, child.Options{Buffer: maxNoise, Ended: ended})
	if err != nil {
		ended()
		return nil, &remote.UnreachableError{Reason: fmt.Sprintf("%s cannot be started: %s", command[0], err)}
	}
	return &session{ssh: process, printed: runner.NewLog(8 << 10), ended: ended}, nil
}

// kill kills ssh and waits for its end. An agent whose connection is lost ends too.
func (s *session) kill() {
	s.ssh.Kill()
	s.ssh.Wait()
}
