"""Checks in the machine code of short launches: what fails one goes to the slow path."""

from __future__ import annotations

from teeny_cuda.emit_text import Text

WEIGHTS = '!1 = !{!"branch_weights", i32 10000, i32 1}\n'


class Checks(Text):
    """Lines with checks; a block `miss` and one `miss.clear` (an exception is set) follow them."""

    def require(self, condition: str, otherwise: str = "miss") -> None:
        """Go on if `condition` (an instruction that gives an i1) holds."""
        go = self.fresh("go.")
        self.say(f"br i1 {self.let(condition)}, label %{go}, label %{otherwise}, !prof !1")
        self.label(go)

    def require_type(self, value: str, wanted: str) -> None:
        """Go on if the type of a Python object is exactly this one."""
        kind = self.load(value, self.places.type, "ptr")
        self.require(f"icmp eq ptr {kind}, {wanted}")

    def attribute_kept(self, value: str, name: str) -> str:
        """An attribute, not null; the reference is ours."""
        found = self.let(f"call ptr @PyObject_GetAttr(ptr {value}, ptr {name})")
        self.require(f"icmp ne ptr {found}, null", "miss.clear")
        return found

    def attribute(self, value: str, name: str) -> str:
        """An attribute that its owner keeps alive: only its address is looked at."""
        found = self.attribute_kept(value, name)
        self.say(f"call void @Py_DecRef(ptr {found})")
        return found

    def method(self, value: str, name: str) -> str:
        """The answer of a method without arguments; the reference is ours."""
        place = self.let("getelementptr ptr, ptr %self, i64 1")
        self.say(f"store ptr {value}, ptr {place}, align 8")
        # The sign bit says that the word before the arguments may be used (vectorcall protocol).
        count = -(2**63) + 1
        found = self.let(
            f"call ptr @PyObject_VectorcallMethod(ptr {name}, ptr {place}, i64 {count}, ptr null)"
        )
        self.require(f"icmp ne ptr {found}, null", "miss.clear")
        return found

    def integer_of(self, value: str) -> str:
        """The bits of a Python int whose reference is ours; it is given back."""
        number = self.let(f"call i64 @PyLong_AsUnsignedLongLongMask(ptr {value})")
        self.say(f"call void @Py_DecRef(ptr {value})")
        fine, look = self.fresh("fine."), self.fresh("look.")
        self.say(f"br i1 {self.let(f'icmp ne i64 {number}, -1')}, label %{fine}, label %{look}")
        self.label(look)
        error = self.let("call ptr @PyErr_Occurred()")
        self.say(
            f"br i1 {self.let(f'icmp eq ptr {error}, null')}, label %{fine}, label %miss.clear"
        )
        self.label(fine)
        return number

    def python_int(self, value: str) -> str:
        """The value of an exact Python int of 64 bits."""
        self.require_type(value, "@py_int")
        number = self.let(f"call i64 @PyLong_AsLongLongAndOverflow(ptr {value}, ptr %overflow)")
        over = self.let("load i32, ptr %overflow, align 4")
        self.require(f"icmp eq i32 {over}, 0")
        return number
