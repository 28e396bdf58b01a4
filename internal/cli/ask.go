package cli

import (
	"bufio"
	"context"
	"strings"

	"deployster/internal/diag"
)

// confirm asks a question that only y or yes answers with yes. Without a person
// to ask it is an error, never a wait without end.
func confirm(ctx context.Context, e Env, question string) (bool, error) {
	if !e.Interactive {
		return false, diag.Errorf("Nobody to ask",
			"Apply needs a yes, and there is no terminal to ask on. Nothing was changed. Use `-auto-approve`, or save a plan with `deployster plan -out=plan.bin` and apply that.")
	}
	printer{out: e.Stderr}.printf("%s [y/N] ", question)
	type answer struct {
		line string
		err  error
	}
	read := make(chan answer, 1)
	go func() {
		line, err := bufio.NewReader(e.Stdin).ReadString('\n')
		read <- answer{line, err}
	}()
	select {
	case <-ctx.Done():
		printer{out: e.Stderr}.printf("\n")
		return false, context.Cause(ctx)
	case a := <-read:
		word := strings.ToLower(strings.TrimSpace(a.line))
		return a.err == nil && (word == "y" || word == "yes"), nil
	}
}
