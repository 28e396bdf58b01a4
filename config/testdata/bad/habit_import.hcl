# error 3:1 no import needed

import {
  to = resource.a
  id = "x"
}
