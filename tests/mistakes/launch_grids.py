"""Launch: grids and options. The kernels are right; one mistake in each launch, at `# wrong`."""

import teeny_triton as tl
from teeny_macros import kernel
from teeny_triton import Const, DeviceArray, Ptr, f32, i32


@kernel
def copy(x: Ptr[f32], out: Ptr[f32], n: i32 | int, BLOCK: Const[int] = 16) -> None:
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + lanes, tl.load(x + lanes, mask=lanes < n), mask=lanes < n)


# mistake grid_forgotten (no-grid): a kernel called as a function
def grid_forgotten(x: DeviceArray[f32]) -> None:
    copy(x, x, 16)  # wrong


# mistake grid_as_argument (no-grid): the grid as the first argument
def grid_as_argument(x: DeviceArray[f32]) -> None:
    copy((1,), x, x, 16)  # wrong


# mistake grid_after_call (no-grid): the grid behind the arguments
def grid_after_call(x: DeviceArray[f32]) -> None:
    copy(x, x, 16)[(1,)]  # wrong


# mistake launch_not_called (arguments-forgotten): a grid without arguments
def launch_not_called() -> None:
    copy[(1,)]  # wrong


# mistake float_grid (grid-type): a float as the grid
def float_grid(x: DeviceArray[f32], n: int) -> None:
    copy[n / 16](x, x, n)  # wrong


# mistake float_axis (grid-type): a float in the grid
def float_axis(x: DeviceArray[f32], n: int) -> None:
    copy[(n / 16, 1)](x, x, n)  # wrong


# mistake text_as_grid (grid-type): text as the grid
def text_as_grid(x: DeviceArray[f32]) -> None:
    copy["1"](x, x, 16)  # wrong


# mistake array_as_grid (grid-type): an array as the grid
def array_as_grid(x: DeviceArray[f32]) -> None:
    copy[x](x, x, 16)  # wrong


# mistake four_axes (grid-axes): a grid of four axes
def four_axes(x: DeviceArray[f32]) -> None:
    copy[(1, 1, 1, 1)](x, x, 16)  # wrong


# mistake no_axes (grid-axes): a grid of no axes
def no_axes(x: DeviceArray[f32]) -> None:
    copy[()](x, x, 16)  # wrong


# mistake negative_grid (grid-value): a negative number of programs
def negative_grid(x: DeviceArray[f32]) -> None:
    copy[(-1,)](x, x, 16)  # wrong


# mistake grid_function_of_float (grid-function): a grid function that returns a float
def grid_function_of_float(x: DeviceArray[f32]) -> None:
    copy[lambda meta: 64 / meta["BLOCK"]](x, x, 16)  # wrong


# mistake grid_function_of_four (grid-function): a grid function that returns four axes
def grid_function_of_four(x: DeviceArray[f32]) -> None:
    copy[lambda _: (1, 1, 1, 1)](x, x, 16)  # wrong


# mistake grid_function_without_parameter (grid-function): a grid function without a parameter
def grid_function_without_parameter(x: DeviceArray[f32]) -> None:
    copy[lambda: (1,)](x, x, 16)  # wrong


# mistake grid_function_misspells (grid-function): a grid function that asks for a value not there
def grid_function_misspells(x: DeviceArray[f32]) -> None:
    copy[lambda meta: (meta["BLOCK_SIZE"],)](x, x, 16)  # wrong


# mistake three_warps (option-values): three warps
def three_warps(x: DeviceArray[f32]) -> None:
    copy.options(num_warps=3)[(1,)](x, x, 16)  # wrong


# mistake warps_as_text (option-types): the number of warps as text
def warps_as_text(x: DeviceArray[f32]) -> None:
    copy.options(num_warps="4")[(1,)](x, x, 16)  # wrong


# mistake misspelled_option (option-name): a misspelled launch option
def misspelled_option(x: DeviceArray[f32]) -> None:
    copy.options(num_warp=4)[(1,)](x, x, 16)  # wrong


# mistake negative_stages (option-values): a negative number of stages
def negative_stages(x: DeviceArray[f32]) -> None:
    copy.options(num_stages=-1)[(1,)](x, x, 16)  # wrong


# mistake unknown_device (device): a device that does not exist
def unknown_device(x: DeviceArray[f32]) -> None:
    copy.on((1,), device="tpu:0")(x, x, 16)  # wrong
