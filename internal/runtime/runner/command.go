package runner

import "errors"

// Command returns the argument vector of an invocation by docker's rules, from the
// Entrypoint and Cmd of the image. Without an Entrypoint and Args the image's own apply;
// Args replace the image's Cmd; an Entrypoint replaces the image's and drops its Cmd.
func (s Spec) Command(entrypoint, cmd []string) ([]string, error) {
	if s.Entrypoint != "" {
		entrypoint, cmd = []string{s.Entrypoint}, nil
	}
	if len(s.Args) > 0 {
		cmd = s.Args
	}
	argv := append(append([]string(nil), entrypoint...), cmd...)
	if len(argv) == 0 {
		return nil, errors.New("there is nothing to run: the image has neither an Entrypoint nor a Cmd, " +
			"and no entrypoint or arguments were given")
	}
	return argv, nil
}
