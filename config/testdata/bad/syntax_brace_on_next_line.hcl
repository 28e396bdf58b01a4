# error 3:13 on the same line

resource "a"
{
  type = "x"
}
