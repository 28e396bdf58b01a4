package answers

import "deployster/protocol"

// guard reads how the type undoes its guarded actions.
func (a initAnswer) guard() {
	g := a.object("guard")
	if g == nil {
		return
	}
	a.ty.Guard = &protocol.Guard{Save: &protocol.Command{Args: []string{"save"}}}
	if save := g.object("save"); save != nil {
		c := command(save)
		save.Done()
		a.ty.Guard.Save = &c
	}
	undo := g.object("undo")
	if undo == nil {
		a.Problem("\"guard\" needs an \"undo\", like {\"args\": [\"undo\"]}")
		return
	}
	a.ty.Guard.Undo = command(undo)
	undo.Done()
	g.Done()
	for _, c := range []protocol.Command{*a.ty.Guard.Save, a.ty.Guard.Undo} {
		switch {
		case c.Image != "":
			a.Problem("\"guard\" names the image %q: a type saves and undoes with its own", c.Image)
		case c.Entrypoint == "" && len(c.Args) == 0:
			a.Problem("\"guard\" has a command without entrypoint and args, which is init")
		}
	}
}
