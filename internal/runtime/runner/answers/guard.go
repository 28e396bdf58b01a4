package answers

import "deployster/protocol"

// readGuard reads how the type undoes its guarded actions.
func readGuard(ty *protocol.Type, f *Fields) {
	g := f.object("guard")
	if g == nil {
		return
	}
	ty.Guard = &protocol.Guard{Save: &protocol.Command{Args: []string{"save"}}}
	if save := g.object("save"); save != nil {
		c := command(save)
		save.Done()
		ty.Guard.Save = &c
	}
	undo := g.object("undo")
	if undo == nil {
		f.Problem("\"guard\" needs an \"undo\", like {\"args\": [\"undo\"]}")
		return
	}
	ty.Guard.Undo = command(undo)
	undo.Done()
	g.Done()
	for _, c := range []protocol.Command{*ty.Guard.Save, ty.Guard.Undo} {
		switch {
		case c.Image != "":
			f.Problem("\"guard\" names the image %q: a type saves and undoes with its own", c.Image)
		case c.Entrypoint == "" && len(c.Args) == 0:
			f.Problem("\"guard\" has a command without entrypoint and args, which is init")
		}
	}
}
