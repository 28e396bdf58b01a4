resource "a" {
  type     = "x"
  for_each = { (join("", [for i in range(401) : "x"])) = 1 }
}
# error 3:14 too long
