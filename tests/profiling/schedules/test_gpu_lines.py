"""Lines of code for GPUs and the lines of the source that tools name; texts recorded from them.

The texts are parts of what Triton 3.9, its ptxas and its nvdisasm gave for a mean of squares.
"""

from __future__ import annotations

from profiling.schedules import sass_lines as sass
from profiling.schedules.mlir_lines import mlir_lines
from profiling.schedules.ptx_lines import WIDE, ptx_lines
from profiling.schedules.ptxas import usage_of
from profiling.schedules.sass_lines import sass_lines
from profiling.schedules.source_places import Places, lines_of

PROGRAM, LIBRARY = "/home/made/triton_kernels.py", "/lib/triton/language/standard.py"

TTIR = f"""\
#loc = loc("{PROGRAM}":68:1)
#loc1 = loc(unknown)
#loc18 = loc("{PROGRAM}":81:14)
#loc62 = loc("held_0"(#loc18))
module {{
  tt.func public @kernel0(%in0: !tt.ptr<f32> loc("in0"(#loc)), %s1: i64 loc("s1"(#loc))) {{
    %cst = arith.constant 9.99999974E-6 : f32 loc(#loc1)
    %lanes = scf.for %begin = %c0 to %s1 step %c1 iter_args(%a = %cst_1) -> (tensor<8xf32>) : i64 {{
      %place = tt.make_range {{end = 1024 : i32, start = 0 : i32}} : tensor<1024xi32> loc(#loc49)
      scf.yield %lanes_20 : tensor<1024xf32> loc(#loc3)
    }} loc(#loc48)
    %held_0 = "tt.reduce"(%lanes) <{{axis = 0 : i32}}> ({{
    ^bb0(%b: f32 loc(callsite(#loc1 at #loc62)), %c: f32 loc(callsite(#loc1 at #loc62))):
      %held_0_5 = arith.addf %b, %c : f32 loc(#loc84)
    }}) : (tensor<1024xf32>) -> f32 loc(#loc82)
    %both = arith.addi %x, %y : i64 loc(fused[#loc3, #loc4])
  }} loc(#loc)
}} loc(#loc)
#loc3 = loc("{PROGRAM}":73:5)
#loc4 = loc("{PROGRAM}":74:25)
#loc17 = loc("{LIBRARY}":314:12)
#loc19 = loc("{LIBRARY}":287:12)
#loc48 = loc("lanes"(#loc3))
#loc49 = loc("place"(#loc4))
#loc82 = loc(callsite(#loc17 at #loc62))
#loc84 = loc(callsite(#loc19 at #loc82))
"""

PTX = f"""\
.version 9.4
.visible .entry kernel0(
\t.param .u64 kernel0_param_3
)
.reqntid 128
{{
\t.reg .b32 \t%r<110>;
\t.loc\t1 68 0                          // triton_kernels.py:68:0
$L__func_begin0:
// %bb.0:
\tld.param.b64 \t%rd40, [kernel0_param_4];
$L__tmp0:
\t.loc\t1 69 11                         // triton_kernels.py:69:11
\tmov.u32 \t%r3, %ctaid.x;
\t.loc\t1 0 5                           // triton_kernels.py:0:5
\tadd.s64 \t%rd11, %rd36, %rd41;
\t// begin inline asm
\t.loc\t1 76 14                         // triton_kernels.py:76:14
\t@%p2 ld.global.v4.b32 {{ %r12 }}, [ %rd42 + 0 ];

\t// end inline asm
\t.loc\t1 81 14                         // triton_kernels.py:81:14
\t.loc\t2 314 12, function_name $L__info_string0, inlined_at 1 81 14 // standard.py:314:12
\t.loc\t2 287 12, function_name $L__info_string0, inlined_at 2 314 12 // standard.py:287:12
\tadd.f32 \t%r37, %r101, %r102;
$L__BB0_4:                              // %._crit_edge
\t.loc\t2 314 12, function_name $L__info_string0, inlined_at 1 81 14 // standard.py:314:12
\tshfl.sync.bfly.b32 \t%r43, %r109, 16, 31, -1;
\tret;
}}
\t.file\t1 "{PROGRAM}"
\t.file\t2 "{LIBRARY}"
\t.section\t.debug_abbrev
\t{{
.b8 1                                   // Abbreviation Code
"""

SASS = f"""\
\t.section\t.text.kernel0,"ax",@progbits
.text.kernel0:
\t//## File "{PROGRAM}", line 74
        /*0010*/                   S2R R9, SR_TID.X ;
        /*0180*/               @P0 BRA `(.L_x_0) ;
\t//## File "{LIBRARY}", line 287 inlined at "{LIBRARY}", line 314
\t//## File "{LIBRARY}", line 314 inlined at "{PROGRAM}", line 81
\t//## File "{PROGRAM}", line 81
        /*09e0*/                   FADD R25, R25, R26 ;
.L_x_0:
\t//## File "{LIBRARY}", line 314 inlined at "{PROGRAM}", line 81
\t//## File "{PROGRAM}", line 81
\t//## File "{PROGRAM}", line 82
        /*0a80*/                   LDG.E.128 R4, desc[UR6][R2.64] ;
        /*0a90*/                   LDG.E R4, desc[UR6][R2.64+0x400] ;
"""

PTXAS = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'kernel0' for 'sm_90a'
ptxas info    : Function properties for kernel0
    8 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads
ptxas info    : Used 48 registers, used 1 barriers, 8 bytes cumulative stack size
"""


def of_program(found: list[tuple[str, Places]], text: str) -> tuple[int, ...]:
    """Lines of the program from 1 on, of the one line that has a text."""
    (places,) = (places for line, places in found if text in line)
    return tuple(line + 1 for line in lines_of(places, "triton_kernels.py"))


def test_an_operation_of_triton_is_of_the_line_that_its_location_names() -> None:
    found = mlir_lines(TTIR)
    assert of_program(found, "tt.make_range") == (74,)
    assert of_program(found, "arith.constant") == (), "unknown"
    assert of_program(found, "arith.addi") == (73, 74), "of both that were fused"


def test_an_operation_in_a_function_is_of_its_call() -> None:
    found = mlir_lines(TTIR)
    assert of_program(found, "arith.addf") == (81,)
    ((_, places),) = (one for one in found if "arith.addf" in one[0])
    assert places == {(LIBRARY, 287), (LIBRARY, 314), (PROGRAM, 81)}


def test_what_opens_a_block_has_the_location_behind_it() -> None:
    found = mlir_lines(TTIR)
    assert of_program(found, "scf.for") == (73,)
    assert of_program(found, '"tt.reduce"') == (81,)
    assert of_program(found, "tt.func") == (68,)


def test_locations_are_links_and_no_text() -> None:
    lines = [line for line, _ in mlir_lines(TTIR)]
    assert not any("loc" in line for line in lines)
    assert "  tt.func public @kernel0(%in0: !tt.ptr<f32>, %s1: i64) {" in lines
    assert lines[0] == "module {"
    assert lines[-1] == "}"


def test_an_instruction_of_ptx_is_of_the_directive_before_it() -> None:
    found = ptx_lines(PTX)
    assert of_program(found, "%ctaid.x") == (69,)
    assert of_program(found, "ld.global") == (76,)
    assert of_program(found, "add.s64") == (), "line 0 is none"
    assert of_program(found, ".reg") == (), "before the first directive"


def test_an_instruction_of_ptx_in_a_function_is_of_its_call_and_of_the_calls_call() -> None:
    found = ptx_lines(PTX)
    assert of_program(found, "shfl") == (81,)
    assert of_program(found, "add.f32") == (81,)


def test_a_position_that_was_inlined_at_two_places_names_neither_for_what_is_in_it() -> None:
    again = ".loc\t2 314 12, function_name $L__info_string0, inlined_at 1 85 14\n\tex2 %r1;\n\tret;"
    found = ptx_lines(PTX.replace("ret;", again))
    assert of_program(found, "add.f32") == ()
    assert of_program(found, "shfl") == (81,)
    assert of_program(found, "ex2") == (85,)


def test_ptx_is_shown_without_directives_for_debuggers() -> None:
    lines = [line for line, _ in ptx_lines(PTX)]
    assert lines[0] == ".visible .entry kernel0("
    assert lines[-1] == "}"
    assert not any(word in line for line in lines for word in (".loc", "$L__tmp", "inline asm"))
    assert [line for line in lines if WIDE.search(line)] == [
        "\t@%p2 ld.global.v4.b32 { %r12 }, [ %rd42 + 0 ];"
    ]


def test_machine_code_is_of_the_comment_before_it_and_of_those_that_follow_as_callers() -> None:
    found = sass_lines(SASS)
    assert of_program(found, "S2R") == of_program(found, "BRA") == (74,)
    assert of_program(found, "FADD") == (81,)
    assert of_program(found, ".L_x_0:") == ()
    assert of_program(found, "LDG.E R4") == (82,), "a place that no instruction has is left behind"
    assert [text for text, _ in found if sass.WIDE.search(text)] == [
        "  0a80  LDG.E.128 R4, desc[UR6][R2.64]"
    ]


def test_registers_and_spills_are_what_ptxas_says_and_unknown_where_it_says_nothing() -> None:
    one = usage_of("kernel0", PTXAS, 16)
    assert (one.registers, one.shared_bytes) == (48, 16)
    assert (one.stack_bytes, one.spill_store_bytes, one.spill_load_bytes) == (8, 16, 24)
    other = usage_of("kernel0", "", None)
    assert {other.registers, other.shared_bytes, other.spill_store_bytes} == {None}
