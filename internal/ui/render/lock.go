package render

import (
	"fmt"

	"deployster/internal/ui/paint"
)

// Lock returns the change of a locked digest; an empty one stands for none.
func Lock(name, was, now string) string {
	switch {
	case now == "":
		return fmt.Sprintf("%s %s\n", paint.Red("-"), name)
	case was == "":
		return fmt.Sprintf("%s %s = %s\n", paint.Green("+"), name, now)
	}
	return fmt.Sprintf("%s %s = %s\n    it was %s\n", paint.Yellow("~"), name, now, was)
}
