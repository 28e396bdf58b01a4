package cli

import (
	"fmt"
	"strings"

	"deployster/internal/base/diag"
	"deployster/internal/ui/render"
)

// style colours text, where there is a terminal to see it.
type style struct{ on bool }

func (s style) bold(t string) string   { return render.Bold(t) }
func (s style) dim(t string) string    { return render.Dim(t) }
func (s style) red(t string) string    { return render.Red(t) }
func (s style) green(t string) string  { return render.Green(t) }
func (s style) yellow(t string) string { return render.Yellow(t) }

// count says how many there are: `1 resource`, `3 resources`.
func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func visibleList(names []string) string { return diag.Visible(join(names)) }

func join(words []string) string { return strings.Join(words, ", ") }
